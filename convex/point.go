package convex

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// Point gives values to variables. A variable that is missing counts as zero.
type Point map[*Variable][]float64

// Eval returns the value at a point, with the parameters' current values. It
// returns nil if the expression has an error, and panics if the point gives a
// variable a vector of another length.
func (a Affine) Eval(pt Point) []float64 {
	if a.err != nil {
		return nil
	}
	out := a.constant()
	for i := range a.vars {
		t := &a.vars[i]
		x, ok := pt[t.v]
		if !ok {
			continue
		}
		if len(x) != t.v.n {
			panic(fmt.Sprintf("convex: Eval: %d values for variable %s of length %d", len(x), t.v.name, t.v.n))
		}
		t.forward(out, x)
	}
	return out
}

// constant returns the constant term at the parameters' current values.
func (a Affine) constant() []float64 {
	out := make([]float64, a.n)
	a.addConstant(out)
	return out
}

func (a Affine) addConstant(out []float64) {
	if a.c != nil {
		floats.Add(out, a.c)
	}
	for i := range a.pars {
		a.pars[i].forward(out, a.pars[i].p.values)
	}
}

// fixed says that the expression has no parameter in its constant term.
func (a Affine) fixed() bool { return len(a.pars) == 0 }

// selection says that every entry is one entry of a variable times a number
// plus a constant or a parameter, or lacks the variable.
func (a Affine) selection() bool {
	covered := make([]bool, a.n)
	for i := range a.vars {
		t := &a.vars[i]
		if t.mat != nil || t.w != nil || t.sum {
			return false
		}
		for r := t.off; r < t.off+t.rows; r++ {
			if covered[r] {
				return false
			}
			covered[r] = true
		}
	}
	return true
}
