package cbf

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/internal/coo"
)

// program puts the parts together; the matrices start at that row.
func (b *builder) program(matrices int) (*Program, error) {
	m := b.m
	p := &Program{model: m, sign: 1, variables: b.variables, constraints: b.constraints}
	if m.Maximize {
		p.sign = -1
	}
	problem := &backends.Problem{}
	size := 0
	for _, part := range b.part {
		size += len(part.rows)
	}
	p.rows = make([]row, 0, size)
	for k := range b.part {
		p.rows = append(p.rows, b.part[k].rows...)
		problem.Cones = append(problem.Cones, b.part[k].cones...)
		b.part[k].rows = nil
	}

	// The first row and column of each matrix.
	variableRow, variableColumn := make([]int, len(m.PSDVar)), make([]int, len(m.PSDVar))
	at, columns := matrices, b.variables
	for k, n := range m.PSDVar {
		variableRow[k], variableColumn[k] = at, columns
		at, columns = at+triangle(n), columns+triangle(n)
	}
	constraintRow := make([]int, len(m.PSDCon))
	for k, n := range m.PSDCon {
		constraintRow[k] = at
		at += triangle(n)
	}
	auxiliary := columns
	columns += b.auxiliary

	problem.Q, problem.B = make([]float64, columns), make([]float64, len(p.rows))
	for _, c := range m.Objective {
		problem.Q[c.Index] += p.sign * c.Value
	}
	for _, e := range m.ObjectiveMatrix {
		j, weight := vectorPlace(e.Row, e.Col, m.PSDVar[e.Owner])
		problem.Q[variableColumn[e.Owner]+j] += p.sign * weight * e.Value
	}

	uses := p.uses()
	a := coo.New(len(p.rows) + len(m.A) + len(m.F) + len(m.H))
	for k, r := range p.rows {
		for _, term := range [2]struct {
			e int32
			c float64
		}{{r.e1, r.c1}, {r.e2, r.c2}} {
			switch e := int(term.e); {
			case e < 0:
			case e < b.variables:
				a.Add(k, e, -term.c)
			case e >= b.variables+b.constraints:
				a.Add(k, auxiliary+e-b.variables-b.constraints, -term.c)
			}
		}
	}
	for _, e := range m.A {
		uses.each(e.Row, func(k int, c float64) { a.Add(k, e.Col, -c*e.Value) })
	}
	for _, e := range m.B {
		uses.each(e.Index, func(k int, c float64) { problem.B[k] += c * e.Value })
	}
	for _, e := range m.F {
		j, weight := vectorPlace(e.Row, e.Col, m.PSDVar[e.Other])
		uses.each(e.Owner, func(k int, c float64) { a.Add(k, variableColumn[e.Other]+j, -c*weight*e.Value) })
	}
	for j, n := range m.PSDVar {
		for k := range triangle(n) {
			a.Add(variableRow[j]+k, variableColumn[j]+k, -1)
		}
	}
	for _, e := range m.H {
		k, weight := vectorPlace(e.Row, e.Col, m.PSDCon[e.Owner])
		a.Add(constraintRow[e.Owner]+k, e.Other, -weight*e.Value)
	}
	for _, e := range m.D {
		k, weight := vectorPlace(e.Row, e.Col, m.PSDCon[e.Owner])
		problem.B[constraintRow[e.Owner]+k] += weight * e.Value
	}
	problem.A = a.CSC(len(p.rows), columns)
	p.Problem = problem
	if err := problem.Validate(); err != nil { // sums of entries, or sqrt 2 times one, may be infinite
		return nil, fmt.Errorf("cbf: the entries are too large: %w", err)
	}
	return p, nil
}

// vectorPlace is the place of an entry in the vector of a matrix, and its weight: with
// X as the vector v, <F, X> is the sum of weight F_ij v_k over the given triangle.
func vectorPlace(i, j, n int) (k int, weight float64) {
	k = j*n - j*(j-1)/2 + i - j
	if i == j {
		return k, 1
	}
	return k, math.Sqrt2
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
	out := Solution{Objective: p.sign*s.Objective + p.model.Constant, DualObjective: p.sign*s.DualObjective + p.model.Constant}
	if s.X != nil {
		out.X = s.X[:p.variables:p.variables]
		at := p.variables
		for _, n := range p.model.PSDVar {
			x := make([]float64, triangle(n))
			k := 0
			for j := range n {
				for i := j; i < n; i++ {
					x[k] = s.X[at+k]
					if i != j {
						x[k] /= math.Sqrt2
					}
					k++
				}
			}
			at += k
			out.Matrices = append(out.Matrices, x)
		}
	}
	if s.Z != nil {
		out.Y = make([]float64, p.constraints)
		uses := p.uses()
		for i := range out.Y {
			uses.each(i, func(k int, c float64) { out.Y[i] += c * s.Z[k] })
		}
	}
	return out
}
