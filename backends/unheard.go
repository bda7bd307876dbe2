package backends

import (
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/internal/dense"
)

// This file finds the equations a'x = 0 that are what rounding leaves of 0'x = 0, the imaginary part of a Hermitian
// product for example: each of the k entries is at most k roundings of the largest entry in its column, and without
// these rows all numbers of the problem are near one, so that no row of other units is meant. As equations of their own
// they would contradict each other, or fix variables at chance.

// ears have the memory of quietRows.
type ears struct {
	count   []int32
	largest []float64
	quiet   []bool
}

// quietRows lists the equations with such entries.
func (e *ears) quietRows(p *Problem) (rows []int) {
	if p.A == nil || len(p.B) == 0 {
		return nil
	}
	raw := p.A.RawMatrix()
	e.count, e.largest = dense.Cleared(e.count, len(p.B)), dense.Cleared(e.largest, len(p.B))
	e.quiet = dense.Cleared(e.quiet, len(p.B))
	count, largest, quiet := e.count, e.largest, e.quiet
	for k, i := range raw.Ind {
		count[i]++
		largest[i] = max(largest[i], math.Abs(raw.Data[k]))
	}
	// Most problems have no equation this much smaller than the largest entry of all.
	most, some := maxAbs(largest), false
	for row, c := range Rows(p.Cones) {
		for i := row; i < row+c.Dim && c.Kind == ZeroCone; i++ {
			quiet[i] = largest[i] > 0 && largest[i] <= float64(count[i])*unitRoundoff*most
			some = some || quiet[i]
		}
	}
	if !some {
		return nil
	}
	for j := range p.Q {
		top := 0.0
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			top = max(top, math.Abs(raw.Data[k]))
		}
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i := raw.Ind[k]; math.Abs(raw.Data[k]) > float64(count[i])*unitRoundoff*top {
				quiet[i] = false
			}
		}
	}
	for i, is := range quiet {
		if is {
			rows = append(rows, i)
		}
	}
	return rows
}

// silence takes the rows that are left out of p, of the quiet ones, and gives p zeros in their place.
func silence(p *Problem, quiet []int) (rows []int) {
	for _, i := range quiet {
		if p.B[i] == 0 {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return nil
	}
	raw := p.A.RawMatrix()
	data := slices.Clone(raw.Data)
	for k, i := range raw.Ind {
		if _, is := slices.BinarySearch(rows, i); is {
			data[k] = 0
		}
	}
	rest := *p
	rest.A = sparse.NewCSC(len(p.B), len(p.Q), raw.Indptr, raw.Ind, data)
	if !new(units).of(&rest).plain {
		return nil
	}
	*p = rest
	return rows
}

// heard returns an update with zeros in the equations that are left out after it.
func (s *checkedSolver) heard(u Update) Update {
	if s.quiet == nil && u.A == nil {
		return u
	}
	next := s.data.updated(u)
	if u.A == nil {
		next.A = s.given
	} else if s.quiet = s.ears.quietRows(&next); s.quiet != nil {
		s.given = filled(nil, s.data.A, u.A)
	}
	before := s.unheard
	if s.unheard = silence(&next, s.quiet); s.unheard != nil || before != nil {
		u.A = next.A
	}
	return u
}

// tellUnheard adds to a message that equations are left out.
func (s *checkedSolver) tellUnheard(out *Solution) {
	if len(s.unheard) > 0 && out.Status != PrimalInfeasible {
		addMessage(out, fmt.Sprintf("%d equations are left out, row %d first: their entries are no more than the rounding "+
			"of the largest in their columns", len(s.unheard), s.unheard[0]))
	}
}
