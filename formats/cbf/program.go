package cbf

import (
	"fmt"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/tower"
)

// program puts the parts together.
func (b *builder) program() (*formats.Program, error) {
	p := &conic{entries: b.entries, sign: 1}
	if b.model.Maximize {
		p.sign = -1
	}
	problem := &backends.Problem{}
	uses, rows := program.NewEntries(b.all), 0
	for k := range b.part {
		problem.Cones = append(problem.Cones, b.part[k].cones...)
		own := &b.part[k].uses
		for i, row := range own.Row {
			uses.Add(rows+int(row), int(own.Col[i]), own.Value[i])
		}
		rows += b.part[k].rows
		b.part[k].uses = program.Entries{}
	}
	p.uses = uses.CSC(rows, b.all)
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
	m, q := p.model, make([]float64, p.columns)
	for _, c := range m.Objective {
		q[c.Index[0]] += p.sign * c.Value
	}
	for _, e := range m.ObjectiveMatrix {
		j, weight := program.Place(e.Index[1], e.Index[2], m.PSDVar[e.Index[0]])
		q[p.matrixVariables[e.Index[0]]+j] += p.sign * weight * e.Value
	}
	return q
}

// matrix returns A, with s = b - Ax.
func (p *conic) matrix(rows int) *sparse.CSC {
	m := p.model
	a := program.NewEntries(rows + len(m.A) + len(m.F) + len(m.H))
	add := func(entry, j int, weight, v float64) {
		p.each(entry, func(k int, c float64) { a.Add(k, j, -c*weight*v) })
	}
	for j := range p.columns {
		add(j, j, 1, 1)
	}
	for _, e := range m.A {
		add(p.columns+e.Index[0], e.Index[1], 1, e.Value)
	}
	for _, e := range m.F {
		j, weight := program.Place(e.Index[2], e.Index[3], m.PSDVar[e.Index[1]])
		add(p.columns+e.Index[0], p.matrixVariables[e.Index[1]]+j, weight, e.Value)
	}
	for _, e := range m.H {
		k, weight := program.Place(e.Index[2], e.Index[3], m.PSDCon[e.Index[0]])
		add(p.matrixConstraints[e.Index[0]]+k, e.Index[1], weight, e.Value)
	}
	return a.CSC(rows, p.columns)
}

// right returns b.
func (p *conic) right(rows int) []float64 {
	m, b := p.model, make([]float64, rows)
	add := func(entry int, weight, v float64) {
		p.each(entry, func(k int, c float64) { b[k] += c * weight * v })
	}
	for _, e := range m.B {
		add(p.columns+e.Index[0], 1, e.Value)
	}
	for _, e := range m.D {
		k, weight := program.Place(e.Index[1], e.Index[2], m.PSDCon[e.Index[0]])
		add(p.matrixConstraints[e.Index[0]]+k, weight, e.Value)
	}
	return b
}

func (p *conic) solution(s *backends.Solution) formats.Solution {
	at := p.tower.Recover(backends.Point{X: s.X, Z: s.Z})
	out := formats.Solution{Objective: p.sign*s.Objective + p.model.Constant, DualObjective: p.sign*s.DualObjective +
		p.model.Constant}
	if at.X != nil {
		out.X = at.X[:p.variables:p.variables]
		for k, n := range p.model.PSDVar {
			out.Matrices = append(out.Matrices, program.Unscaled(at.X[p.matrixVariables[k]:], n))
		}
	}
	if at.Z != nil {
		y := make([]float64, p.all)
		for e := p.columns; e < p.all; e++ {
			p.each(e, func(k int, c float64) { y[e] += c * at.Z[k] })
		}
		out.Y = y[p.columns : p.columns+p.constraints : p.columns+p.constraints]
		for k, n := range p.model.PSDCon {
			out.MatrixY = append(out.MatrixY, program.Unscaled(y[p.matrixConstraints[k]:], n))
		}
	}
	return out
}
