package cbf

import (
	"fmt"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/tower"
)

// places are the first rows and columns of the matrices, and the number of columns.
type places struct {
	variableRow, variableColumn, constraintRow []int
	columns                                    int
}

// places starts with the matrices at a row and a column.
func (m *Model) places(row, column int) places {
	p := places{columns: column}
	for _, n := range m.PSDVar {
		p.variableRow, p.variableColumn = append(p.variableRow, row), append(p.variableColumn, p.columns)
		row, p.columns = row+triangle(n), p.columns+triangle(n)
	}
	for _, n := range m.PSDCon {
		p.constraintRow = append(p.constraintRow, row)
		row += triangle(n)
	}
	return p
}

// program puts the parts together, the matrices after the vectors that are some.
func (b *builder) program() (*formats.Program, error) {
	m := b.m
	p := &conic{model: m, sign: 1, variables: b.variables, constraints: b.constraints}
	if m.Maximize {
		p.sign = -1
	}
	problem := &backends.Problem{}
	uses, rows := program.NewEntries(b.variables+b.constraints), 0
	for k := range b.part {
		problem.Cones = append(problem.Cones, b.part[k].cones...)
		for _, r := range b.part[k].rows {
			uses.Add(rows, int(r.e1), r.c1)
			if r.e2 >= 0 {
				uses.Add(rows, int(r.e2), r.c2)
			}
			rows++
		}
		b.part[k].rows = nil
		if k == int(backends.PSDCone) {
			p.at = m.places(rows, b.variables)
			for _, n := range slices.Concat(m.PSDVar, m.PSDCon) {
				problem.Cones = append(problem.Cones, backends.PSD(n))
				rows += triangle(n)
			}
		}
	}
	p.uses = uses.CSC(rows, b.variables+b.constraints)
	problem.Q, problem.A, problem.B = p.objective(), p.matrix(rows), p.right(rows)
	p.tower = tower.New(len(problem.Q), problem.Cones, func(c backends.Cone) bool { return c.Dim > longPower })
	out := &formats.Program{Problem: p.tower.Problem(problem), Solution: p.solution}
	if err := out.Problem.Validate(); err != nil { // sums of entries, or sqrt 2 times one, may be infinite
		return nil, fmt.Errorf("cbf: the entries are too large: %w", err)
	}
	return out, nil
}

// objective returns q.
func (p *conic) objective() []float64 {
	m, q := p.model, make([]float64, p.at.columns)
	for _, c := range m.Objective {
		q[c.Index[0]] += p.sign * c.Value
	}
	for _, e := range m.ObjectiveMatrix {
		j, weight := program.Place(e.Index[1], e.Index[2], m.PSDVar[e.Index[0]])
		q[p.at.variableColumn[e.Index[0]]+j] += p.sign * weight * e.Value
	}
	return q
}

// matrix returns A, with s = b - Ax.
func (p *conic) matrix(rows int) *sparse.CSC {
	m, at := p.model, &p.at
	a := program.NewEntries(rows + len(m.A) + len(m.F) + len(m.H))
	for j := range p.variables {
		p.each(j, func(k int, c float64) { a.Add(k, j, -c) })
	}
	for _, e := range m.A {
		p.each(p.variables+e.Index[0], func(k int, c float64) { a.Add(k, e.Index[1], -c*e.Value) })
	}
	for _, e := range m.F {
		x := e.Index[1]
		j, weight := program.Place(e.Index[2], e.Index[3], m.PSDVar[x])
		p.each(p.variables+e.Index[0], func(k int, c float64) { a.Add(k, at.variableColumn[x]+j, -c*weight*e.Value) })
	}
	for j, n := range m.PSDVar {
		for k := range triangle(n) {
			a.Add(at.variableRow[j]+k, at.variableColumn[j]+k, -1)
		}
	}
	for _, e := range m.H {
		k, weight := program.Place(e.Index[2], e.Index[3], m.PSDCon[e.Index[0]])
		a.Add(at.constraintRow[e.Index[0]]+k, e.Index[1], -weight*e.Value)
	}
	return a.CSC(rows, at.columns)
}

// right returns b.
func (p *conic) right(rows int) []float64 {
	m, b := p.model, make([]float64, rows)
	for _, e := range m.B {
		p.each(p.variables+e.Index[0], func(k int, c float64) { b[k] += c * e.Value })
	}
	for _, e := range m.D {
		k, weight := program.Place(e.Index[1], e.Index[2], m.PSDCon[e.Index[0]])
		b[p.at.constraintRow[e.Index[0]]+k] += weight * e.Value
	}
	return b
}

func (p *conic) solution(s *backends.Solution) formats.Solution {
	at := p.tower.Recover(backends.Point{X: s.X, Z: s.Z})
	out := formats.Solution{Objective: p.sign*s.Objective + p.model.Constant, DualObjective: p.sign*s.DualObjective +
		p.model.Constant}
	if at.X != nil {
		out.X = at.X[:p.variables:p.variables]
		first := p.variables
		for _, n := range p.model.PSDVar {
			out.Matrices = append(out.Matrices, program.Unscaled(at.X[first:], n))
			first += triangle(n)
		}
	}
	if at.Z != nil {
		out.Y = make([]float64, p.constraints)
		for i := range out.Y {
			p.each(p.variables+i, func(k int, c float64) { out.Y[i] += c * at.Z[k] })
		}
		for k, n := range p.model.PSDCon {
			out.MatrixY = append(out.MatrixY, program.Unscaled(at.Z[p.at.constraintRow[k]:], n))
		}
	}
	return out
}
