package affine

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Variable is a vector to be chosen, with its place among those of its model or program.
type Variable struct {
	ID   int
	Name string
	N    int
	Sign int // 1 where no entry is negative, -1 where none is positive
	// Bounds is what a variable stands for that no model has; nil for others.
	Bounds Bounds
}

// Bounds is a function that a variable is as large as, or at least as large as.
type Bounds interface {
	Eval(at Values, of func(*Variable) []float64) []float64
}

// Expr returns the variable as an expression.
func (v *Variable) Expr() Expr { return Expr{N: v.N, Vars: []Term{{V: v, Rows: v.N, Scale: 1}}} }

// Parameter is a vector of numbers that may change between solves.
type Parameter struct {
	ID    int
	Name  string
	N     int
	First []float64 // the values that it has where no others are given
}

// Values are those of the parameters of a model, each in the place of its ID; nil for those that it begins with.
type Values [][]float64

// Of are the values of a parameter.
func (at Values) Of(p *Parameter) []float64 {
	if p.ID < len(at) && at[p.ID] != nil {
		return at[p.ID]
	}
	return p.First
}

// Copy returns a copy in the memory of another one, as far as that goes.
func (at Values) Copy(room Values) Values {
	room = slices.Grow(room[:0], len(at))[:len(at)]
	for i, v := range at {
		room[i] = append(room[i][:0], v...)
	}
	return room
}

// Entry is entry i of a parameter.
func (at Values) Entry(p *Parameter, i int) float64 { return at.Of(p)[i] }

// Expr returns the parameter as a constant expression.
func (p *Parameter) Expr() Expr { return Expr{N: p.N, Pars: []Term{{P: p, Rows: p.N, Scale: 1}}} }

// Times returns the entrywise product p[i] a[i] for an expression without parameters, either being broadcast.
func (p *Parameter) Times(a Expr) Expr {
	out, _ := Product(p.Expr(), a)
	return out
}

// Product returns the entrywise product of parameters p and an expression a without any, either being broadcast; false
// where an entry of p is no sum of entries of parameters times numbers.
func Product(p, a Expr) (out Expr, ok bool) {
	n := max(p.N, a.N)
	p, a = p.broadcast(n), a.broadcast(n)
	if out = (Expr{N: n}); p.C != nil {
		out = a.MulMat(mat.NewDiagDense(n, p.C))
	}
	for _, q := range p.Pars {
		if q.Mat != nil || q.Sum {
			return out, false
		}
		rows := make([]int, q.Rows)
		for r := range rows {
			rows[r] = q.Row(r)
		}
		part := a
		if q.Rows < n {
			part = a.Pick(rows)
		}
		for _, t := range part.Vars {
			t = t.weighted(&q)
			t.place(rows)
			out.Vars = append(out.Vars, t)
		}
		if part.C != nil {
			own := q
			own.Coef = slices.Clone(part.C)
			if q.Coef != nil {
				floats.Mul(own.Coef, q.Coef)
			}
			out.Pars = append(out.Pars, own)
		}
	}
	return out, true
}

// Dot returns the sum of p[i] a[i].
func (p *Parameter) Dot(a Expr) Expr { return p.Times(a).Sum() }
