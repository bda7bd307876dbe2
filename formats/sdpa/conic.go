package sdpa

import (
	"fmt"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/cbf"
)

// Program is a model in the form of package backends, and the way back. It is that of a model of package cbf: its rows
// are the diagonal blocks and the blocks of order 1 first, as one nonnegative cone, and then the other blocks in their
// order as positive semidefinite cones:
//
//	A = -[svec F_1 .. svec F_m],  b = -svec F_0,  s = svec(sum x_i F_i - F_0)
type Program struct {
	Problem *backends.Problem

	model *Model
	conic *cbf.Program
	place []int // of the first entry of a diagonal block, or the number of another one
}

// Conic makes the conic program. It fails when the blocks are too large for it.
func (m *Model) Conic() (*Program, error) {
	p := &Program{model: m, place: make([]int, len(m.Blocks))}
	c := &cbf.Model{Var: []cbf.Cone{{Kind: cbf.Free, Dim: len(m.C)}}}
	diagonal := 0
	for k, n := range m.Blocks {
		if isDiagonal(n) {
			p.place[k] = diagonal
			if diagonal += abs(n); diagonal > cbf.MaxSize {
				return nil, fmt.Errorf("sdpa: the problem is too large: more than %d entries of diagonal blocks", cbf.MaxSize)
			}
			continue
		}
		p.place[k] = len(c.PSDCon)
		c.PSDCon = append(c.PSDCon, n)
	}
	c.Con = []cbf.Cone{{Kind: cbf.Nonnegative, Dim: diagonal}}
	for j, v := range m.C {
		c.Objective = append(c.Objective, cbf.Entry{Index: [4]int{j}, Value: v})
	}
	for _, e := range m.Entries {
		at, i, j, x := p.place[e.Block], int(e.Row), int(e.Col), int(e.Matrix)-1
		switch diagonal := isDiagonal(m.Blocks[e.Block]); {
		case diagonal && x < 0:
			c.B = append(c.B, cbf.Entry{Index: [4]int{at + i}, Value: -e.Value})
		case diagonal:
			c.A = append(c.A, cbf.Entry{Index: [4]int{at + i, x}, Value: e.Value})
		case x < 0:
			c.D = append(c.D, cbf.Entry{Index: [4]int{at, i, j}, Value: -e.Value})
		default:
			c.H = append(c.H, cbf.Entry{Index: [4]int{at, x, i, j}, Value: e.Value})
		}
	}
	conic, err := c.Conic()
	if err != nil {
		return nil, fmt.Errorf("sdpa: in the conic format: %w", err)
	}
	c.A, c.B, c.D, c.H = nil, nil, nil, nil // which the problem has
	p.Problem, p.conic = conic.Problem, conic
	return p, nil
}

// isDiagonal says whether a block of that size is part of the nonnegative cone.
func isDiagonal(n int) bool { return n < 0 || n == 1 }

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
	found := p.conic.Solution(s)
	out := Solution{X: found.X, Objective: found.Objective, DualObjective: found.DualObjective}
	if s.Z == nil {
		return out
	}
	for k, n := range p.model.Blocks {
		if at := p.place[k]; isDiagonal(n) {
			out.Y = append(out.Y, found.Y[at:at+abs(n):at+abs(n)])
		} else {
			out.Y = append(out.Y, found.MatrixY[at])
		}
	}
	return out
}
