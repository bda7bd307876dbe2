package sdpa

import (
	"fmt"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/internal/program"
)

// MaxRows is the largest number of rows of a conic program, those of a matrix of
// order n being n(n+1)/2.
const MaxRows = 1 << 28

// Program is a model in the form of package backends, and the way back. Its rows
// are the diagonal blocks and the blocks of order 1 first, as one nonnegative cone, and
// then the other blocks in their order as positive semidefinite cones:
//
//	A = -[svec F_1 .. svec F_m],  b = -svec F_0,  s = svec(sum x_i F_i - F_0)
type Program struct {
	Problem *backends.Problem

	model  *Model
	offset []int // of the first row of each block
}

// Conic makes the conic program. It fails when the blocks are too large for it.
func (m *Model) Conic() (*Program, error) {
	p := &Program{model: m, offset: make([]int, len(m.Blocks))}
	diagonal, rows := 0, 0
	for k, n := range m.Blocks {
		if isDiagonal(n) {
			p.offset[k] = diagonal
			diagonal += abs(n)
			rows += abs(n)
		}
		if rows > MaxRows {
			return nil, tooLarge()
		}
	}
	var cones []backends.Cone
	if diagonal > 0 {
		cones = append(cones, backends.Nonnegative(diagonal))
	}
	for k, n := range m.Blocks {
		if isDiagonal(n) {
			continue
		}
		p.offset[k] = rows
		if n > 1<<15 { // so that the next line cannot overflow
			return nil, tooLarge()
		}
		if rows += n * (n + 1) / 2; rows > MaxRows {
			return nil, tooLarge()
		}
		cones = append(cones, backends.PSD(n))
	}
	a, b := program.NewEntries(len(m.Entries)), make([]float64, rows)
	for _, e := range m.Entries {
		row, weight := p.row(e)
		v := -weight * e.Value
		if e.Matrix == 0 {
			b[row] += v
		} else {
			a.Add(row, int(e.Matrix-1), v)
		}
	}
	p.Problem = &backends.Problem{Q: m.C, A: a.CSC(rows, len(m.C)), B: b, Cones: cones}
	if err := p.Problem.Validate(); err != nil { // sums of entries, or sqrt 2 times one, may be infinite
		return nil, fmt.Errorf("sdpa: the entries are too large: %w", err)
	}
	return p, nil
}

func tooLarge() error {
	return fmt.Errorf("sdpa: the blocks take more than %d rows (n(n+1)/2 for order n), the problem is too large", MaxRows)
}

// isDiagonal says whether a block of that size is part of the nonnegative cone.
func isDiagonal(n int) bool { return n < 0 || n == 1 }

// row is the place of an entry, and its weight.
func (p *Program) row(e Entry) (k int, weight float64) {
	n := p.model.Blocks[e.Block]
	if isDiagonal(n) {
		return p.offset[e.Block] + int(e.Row), 1
	}
	k, weight = program.Place(int(e.Row), int(e.Col), n)
	return p.offset[e.Block] + k, weight
}

// Solution is a point in the terms of the model.
type Solution struct {
	// X is of length m, nil where the solver has none. Where it proves that c'x falls
	// without bound, it is the direction of that.
	X []float64
	// Y are the blocks of the dual matrix, each its diagonal, or its lower triangle by
	// columns without any scaling. Nil where the solver has none.
	Y [][]float64
	// Objective is c'x, DualObjective <F_0, Y>.
	Objective, DualObjective float64
}

// Solution translates what a solver found.
func (p *Program) Solution(s *backends.Solution) Solution {
	out := Solution{X: s.X, Objective: s.Objective, DualObjective: s.DualObjective}
	if s.Z == nil {
		return out
	}
	for k, n := range p.model.Blocks {
		from := p.offset[k]
		if isDiagonal(n) {
			out.Y = append(out.Y, s.Z[from:from+abs(n):from+abs(n)])
			continue
		}
		out.Y = append(out.Y, program.Unscaled(s.Z[from:], n))
	}
	return out
}
