package backends

import (
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"
)

// unheard lists the equations a'x = 0 that no arithmetic tells from empty ones: each of the k entries is at most k
// roundings of the largest entry in its column, so that adding it there changes nothing but the last bits. Such rows
// are what rounding leaves of equations that cancel, the imaginary part of a Hermitian product for example; as
// equations of their own they would contradict each other, or fix variables at chance.
func unheard(p *Problem) (rows []int) {
	_, m := p.Dims()
	if p.A == nil || m == 0 {
		return nil
	}
	raw := p.A.RawMatrix()
	count := make([]int32, m)
	largest := make([]float64, m)
	for k, i := range raw.Ind {
		count[i]++
		largest[i] = max(largest[i], math.Abs(raw.Data[k]))
	}
	// Most problems have no equation this much smaller than the largest entry of all.
	most, some := maxAbs(largest), false
	quiet := make([]bool, m)
	row := 0
	for _, c := range p.Cones {
		for i := row; i < row+c.Dim && c.Kind == ZeroCone; i++ {
			quiet[i] = p.B[i] == 0 && largest[i] > 0 && largest[i] <= float64(count[i])*unitRoundoff*most
			some = some || quiet[i]
		}
		row += c.Dim
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

// silenced returns the matrix with zeros in the given rows.
func silenced(a *sparse.CSC, rows []int) *sparse.CSC {
	raw := a.RawMatrix()
	data := slices.Clone(raw.Data)
	for k, i := range raw.Ind {
		if _, is := slices.BinarySearch(rows, i); is {
			data[k] = 0
		}
	}
	r, c := a.Dims()
	return sparse.NewCSC(r, c, raw.Indptr, raw.Ind, data)
}

// heard returns an update with zeros in the equations that are not heard after it.
func (s *checkedSolver) heard(u Update) Update {
	if u.A == nil && u.B == nil {
		return u
	}
	next := s.data.updated(u)
	if u.A == nil && s.given != nil {
		next.A = s.given
	}
	before := s.unheard
	if s.unheard = unheard(&next); s.unheard == nil && before == nil {
		return u
	}
	s.given = silenced(next.A, nil)
	u.A = silenced(next.A, s.unheard)
	return u
}

// tellUnheard adds to a message that equations are left out.
func tellUnheard(out *Solution, rows []int) {
	if len(rows) > 0 {
		addMessage(out, fmt.Sprintf("%d equations are left out, row %d first: their entries are no more than the rounding of the largest in their columns", len(rows), rows[0]))
	}
}
