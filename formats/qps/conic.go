package qps

import (
	"math"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/internal/program"
)

// conic is a model in the form of package backends. The rows are the equations first, then the one-sided rows, then the
// two-sided ones as a box, each with those of A before the bounds. A side that is infinite has no
// row. Where the lower side is above the upper one, the two are separate rows, so
// that a solver can prove that there is no solution.
type conic struct {
	model   *Model
	sign    float64 // -1 where the model maximises
	origins []origin
}

// origin says where a row of the problem comes from: row i of A is source i, the
// bounds of column j are source m + j. The row of the problem is -direction times
// the source, so that direction times its z is the multiplier.
type origin struct {
	source    int32
	direction float64
}

// Conic makes the conic program, with the equations first, then the one-sided rows, then the two-sided ones as a box.
// The signs of the multipliers are those of the package comment; at an optimum Z is Px + q - A'y of the minimised
// objective.
func (m *Model) Conic() *formats.Program {
	p := &conic{model: m, sign: 1}
	if m.Maximize {
		p.sign = -1
	}
	rows, n := len(m.Rows), len(m.Columns)
	var zero, nonneg, box layout
	place := func(source int, l, u float64) {
		lower, upper := !math.IsInf(l, -1), !math.IsInf(u, 1)
		switch {
		case lower && upper && l == u:
			zero.add(source, -1, u) // s = u - a'x
		case lower && upper && l < u:
			box.add(source, 1, 0) // s = a'x
			box.lower, box.upper = append(box.lower, l), append(box.upper, u)
		default:
			if lower {
				nonneg.add(source, 1, -l) // s = a'x - l
			}
			if upper {
				nonneg.add(source, -1, u) // s = u - a'x
			}
		}
	}
	for i := range rows {
		place(i, m.RowLower[i], m.RowUpper[i])
	}
	for j := range n {
		place(rows+j, m.ColumnLower[j], m.ColumnUpper[j])
	}

	problem := &backends.Problem{Q: make([]float64, n), P: m.P}
	for j, v := range m.Q {
		problem.Q[j] = p.sign * v
	}
	if m.P != nil && m.Maximize {
		problem.P = scaled(m.P, -1)
	}
	p.origins = append(append(zero.rows, nonneg.rows...), box.rows...)
	problem.B = append(append(zero.b, nonneg.b...), box.b...)
	for _, c := range []backends.Cone{backends.Zero(len(zero.b)), backends.Nonnegative(len(nonneg.b)),
		backends.Box(box.lower, box.upper)} {
		if c.Dim > 0 {
			problem.Cones = append(problem.Cones, c)
		}
	}
	problem.A = p.matrix()
	return &formats.Program{Problem: problem, Solution: p.solution}
}

// layout collects the rows of one cone.
type layout struct {
	rows         []origin
	b            []float64
	lower, upper []float64
}

func (l *layout) add(source int, direction, b float64) {
	l.rows, l.b = append(l.rows, origin{int32(source), direction}), append(l.b, b)
}

// matrix is that of the problem.
func (p *conic) matrix() *sparse.CSC {
	m := p.model
	made := program.NewEntries(len(p.origins)) // of a source there may be none, one or two
	for k, o := range p.origins {
		made.Add(k, int(o.source), -o.direction)
	}
	rows := made.CSC(len(p.origins), len(m.Rows)+len(m.Columns))
	entries := program.NewEntries(m.A.NNZ() + len(p.origins))
	add := func(source, j int, v float64) {
		program.Column(rows, source, func(k int, factor float64) { entries.Add(k, j, factor*v) })
	}
	for j := range m.Columns {
		program.Column(m.A, j, func(i int, v float64) {
			if v != 0 {
				add(i, j, v)
			}
		})
		add(len(m.Rows)+j, j, 1)
	}
	return entries.CSC(len(p.origins), len(m.Columns))
}

func (p *conic) solution(s *backends.Solution) formats.Solution {
	out := formats.Solution{
		X:         s.X,
		Objective: p.sign*s.Objective + p.model.Constant, DualObjective: p.sign*s.DualObjective + p.model.Constant,
	}
	if s.Z == nil {
		return out
	}
	rows := len(p.model.Rows)
	both := make([]float64, rows+len(p.model.Columns))
	for k, o := range p.origins {
		both[o.source] += o.direction * s.Z[k]
	}
	out.Y, out.Z = both[:rows:rows], both[rows:]
	return out
}

// scaled returns a times k, with the pattern of a.
func scaled(a *sparse.CSC, k float64) *sparse.CSC {
	raw := a.RawMatrix()
	r, c := a.Dims()
	return sparse.NewCSC(r, c, raw.Indptr, raw.Ind, floats.ScaleTo(make([]float64, len(raw.Data)), k, raw.Data))
}
