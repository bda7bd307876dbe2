package affine

import "slices"

// Variable is a vector to be chosen, with its place among those of its model or program.
type Variable struct {
	ID   int
	Name string
	N    int
}

// Expr returns the variable as an expression.
func (v *Variable) Expr() Expr { return Expr{N: v.N, Vars: []Term{{V: v, Rows: v.N, Scale: 1}}} }

// Parameter is a vector of numbers that may change between solves.
type Parameter struct {
	ID      int
	Name    string
	N       int
	Values  []float64
	Version int // counts the changes
}

// NewParameter returns a parameter that is zero.
func NewParameter(id int, name string, n int) *Parameter {
	return &Parameter{ID: id, Name: name, N: n, Values: make([]float64, n)}
}

// Set copies the values. The first time counts as a change, which tells a parameter set to zero from one never set.
func (p *Parameter) Set(values []float64) {
	if p.Version == 0 || !slices.Equal(values, p.Values) {
		copy(p.Values, values)
		p.Version++
	}
}

// Expr returns the parameter as a constant expression.
func (p *Parameter) Expr() Expr { return Expr{N: p.N, Pars: []Term{{P: p, Rows: p.N, Scale: 1}}} }

// Times returns the entrywise product p[i] a[i] for an expression without parameters, either being broadcast.
func (p *Parameter) Times(a Expr) Expr {
	if p.N != 1 {
		a = a.broadcast(p.N)
	}
	out := Expr{N: a.N}
	for _, t := range a.Vars {
		out.Vars = append(out.Vars, t.weighted(p, p.N == 1))
	}
	if a.C != nil {
		t := Term{P: p, Rows: a.N, Scale: 1, Coef: a.C}
		if p.N == 1 {
			t.Idx = make([]int, a.N)
		}
		out.Pars = []Term{t}
	}
	return out
}

// Dot returns the sum of p[i] a[i].
func (p *Parameter) Dot(a Expr) Expr { return p.Times(a).Sum() }
