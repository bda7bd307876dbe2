package sdpa

import (
	"fmt"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/cbf"
)

// Conic makes the conic program, by way of a model of package cbf. It fails when the blocks are too large. The rows
// are the diagonal blocks and the blocks of order 1 first, as one nonnegative cone, and then the other blocks in their
// order as positive semidefinite cones:
//
//	A = -[svec F_1 .. svec F_m],  b = -svec F_0,  s = svec(sum x_i F_i - F_0)
//
// MatrixY of a solution are the blocks of the dual matrix, a diagonal one by its diagonal, and Y is all of them, one
// after another. Objective is c'x, DualObjective <F_0, Y>.
func (m *Model) Conic() (*formats.Program, error) {
	place := make([]int, len(m.Blocks)) // of the first entry of a diagonal block, or the number of another one
	c := &cbf.Model{Var: []cbf.Cone{{Kind: cbf.Free, Dim: len(m.C)}}}
	diagonal := 0
	for k, n := range m.Blocks {
		if isDiagonal(n) {
			place[k] = diagonal
			if diagonal += abs(n); diagonal > cbf.MaxSize {
				return nil, fmt.Errorf("sdpa: the problem is too large: more than %d entries of diagonal blocks", cbf.MaxSize)
			}
			continue
		}
		place[k] = len(c.PSDCon)
		c.PSDCon = append(c.PSDCon, n)
	}
	c.Con = []cbf.Cone{{Kind: cbf.Nonnegative, Dim: diagonal}}
	for j, v := range m.C {
		c.Objective = append(c.Objective, cbf.Entry{Index: [4]int{j}, Value: v})
	}
	for _, e := range m.Entries {
		at, i, j, x := place[e.Index[1]], e.Index[2], e.Index[3], e.Index[0]-1
		switch diagonal := isDiagonal(m.Blocks[e.Index[1]]); {
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
	return &formats.Program{Problem: conic.Problem, Solution: func(s *backends.Solution) formats.Solution {
		out := conic.Solution(s)
		if s.Z == nil {
			return out
		}
		diagonal, matrices := out.Y, out.MatrixY
		out.Y, out.MatrixY = nil, make([][]float64, len(place))
		for k, at := range place {
			if n := abs(m.Blocks[k]); isDiagonal(m.Blocks[k]) {
				out.MatrixY[k] = diagonal[at : at+n : at+n]
			} else {
				out.MatrixY[k] = matrices[at]
			}
			out.Y = append(out.Y, out.MatrixY[k]...)
		}
		return out
	}}, nil
}

// isDiagonal says whether a block of that size is part of the nonnegative cone.
func isDiagonal(n int) bool { return n < 0 || n == 1 }
