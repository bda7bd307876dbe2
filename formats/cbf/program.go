package cbf

import (
	"fmt"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
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

// program puts the parts together; the matrices start at that row.
func (b *builder) program(matrices int) (*Program, error) {
	m := b.m
	p := &Program{model: m, sign: 1, variables: b.variables, constraints: b.constraints}
	if m.Maximize {
		p.sign = -1
	}
	problem := &backends.Problem{}
	size := 0
	for k := range b.part {
		size += len(b.part[k].rows)
	}
	p.rows = make([]row, 0, size)
	for k := range b.part {
		p.rows = append(p.rows, b.part[k].rows...)
		problem.Cones = append(problem.Cones, b.part[k].cones...)
		b.part[k].rows = nil
	}
	at, uses := m.places(matrices, b.variables), p.uses()
	problem.Q, problem.A, problem.B = p.objective(at), p.matrix(at, uses), p.right(at, uses)
	p.tower = tower.New(len(problem.Q), problem.Cones, func(c backends.Cone) bool { return c.Dim > longPower })
	p.Problem = p.tower.Problem(problem)
	if err := p.Problem.Validate(); err != nil { // sums of entries, or sqrt 2 times one, may be infinite
		return nil, fmt.Errorf("cbf: the entries are too large: %w", err)
	}
	return p, nil
}

// objective returns q.
func (p *Program) objective(at places) []float64 {
	m, q := p.model, make([]float64, at.columns)
	for _, c := range m.Objective {
		q[c.Index] += p.sign * c.Value
	}
	for _, e := range m.ObjectiveMatrix {
		j, weight := program.Place(e.Row, e.Col, m.PSDVar[e.Owner])
		q[at.variableColumn[e.Owner]+j] += p.sign * weight * e.Value
	}
	return q
}

// matrix returns A, with s = b - Ax.
func (p *Program) matrix(at places, uses *users) *sparse.CSC {
	m := p.model
	a := program.NewEntries(len(p.rows) + len(m.A) + len(m.F) + len(m.H))
	for k, r := range p.rows {
		if e := int(r.e1); e >= 0 && e < p.variables {
			a.Add(k, e, -r.c1)
		}
		if e := int(r.e2); e >= 0 && e < p.variables {
			a.Add(k, e, -r.c2)
		}
	}
	for _, e := range m.A {
		uses.each(e.Row, func(k int, c float64) { a.Add(k, e.Col, -c*e.Value) })
	}
	for _, e := range m.F {
		j, weight := program.Place(e.Row, e.Col, m.PSDVar[e.Other])
		uses.each(e.Owner, func(k int, c float64) { a.Add(k, at.variableColumn[e.Other]+j, -c*weight*e.Value) })
	}
	for j, n := range m.PSDVar {
		for k := range triangle(n) {
			a.Add(at.variableRow[j]+k, at.variableColumn[j]+k, -1)
		}
	}
	for _, e := range m.H {
		k, weight := program.Place(e.Row, e.Col, m.PSDCon[e.Owner])
		a.Add(at.constraintRow[e.Owner]+k, e.Other, -weight*e.Value)
	}
	return a.CSC(len(p.rows), at.columns)
}

// right returns b.
func (p *Program) right(at places, uses *users) []float64 {
	m, b := p.model, make([]float64, len(p.rows))
	for _, e := range m.B {
		uses.each(e.Index, func(k int, c float64) { b[k] += c * e.Value })
	}
	for _, e := range m.D {
		k, weight := program.Place(e.Row, e.Col, m.PSDCon[e.Owner])
		b[at.constraintRow[e.Owner]+k] += weight * e.Value
	}
	return b
}

// users lists the rows that refer to each constraint.
type users struct {
	rows   []row
	offset int32 // the entry of constraint 0
	start  []int32
	row    []int32
}

func (p *Program) uses() *users {
	u := &users{rows: p.rows, offset: int32(p.variables), start: make([]int32, p.constraints+1)}
	inside := func(e int32) bool { return e >= u.offset && int(e-u.offset) < p.constraints }
	for _, r := range p.rows {
		for _, e := range [2]int32{r.e1, r.e2} {
			if inside(e) {
				u.start[e-u.offset+1]++
			}
		}
	}
	for i := range p.constraints {
		u.start[i+1] += u.start[i]
	}
	u.row = make([]int32, u.start[p.constraints])
	next := make([]int32, p.constraints)
	copy(next, u.start)
	for k, r := range p.rows {
		for _, e := range [2]int32{r.e1, r.e2} {
			if inside(e) {
				i := e - u.offset
				u.row[next[i]] = int32(k)
				next[i]++
			}
		}
	}
	return u
}

// each calls f with the rows that refer to constraint i, and their factors of it.
func (u *users) each(i int, f func(k int, c float64)) {
	for _, k := range u.row[u.start[i]:u.start[i+1]] {
		r := u.rows[k]
		c := r.c1
		if r.e1 != u.offset+int32(i) {
			c = r.c2
		}
		f(int(k), c)
	}
}

// Solution is a point in the terms of the model.
type Solution struct {
	// X are the scalar variables, and Matrices the matrix variables, each its lower
	// triangle by columns without any scaling. Nil where the solver has none. Where it
	// proves that the objective has no bound, they are the direction of that.
	X        []float64
	Matrices [][]float64
	// Y are the multipliers of the scalar constraints in the dual cones of CON, for the
	// minimised objective: the derivative of its optimal value with respect to b is -Y.
	Y []float64
	// Objective and DualObjective are those of the file, with constant and sense.
	// They are infinite where the model is infeasible or unbounded, NaN without a point.
	Objective, DualObjective float64
}

// Solution translates what a solver found.
func (p *Program) Solution(s *backends.Solution) Solution {
	at := p.tower.Recover(backends.Point{X: s.X, Z: s.Z})
	out := Solution{Objective: p.sign*s.Objective + p.model.Constant, DualObjective: p.sign*s.DualObjective + p.model.Constant}
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
		uses := p.uses()
		for i := range out.Y {
			uses.each(i, func(k int, c float64) { out.Y[i] += c * at.Z[k] })
		}
	}
	return out
}
