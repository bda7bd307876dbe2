package compile

import (
	"slices"

	"github.com/conetune/conetune/convex/internal/affine"
)

// Parametric is a vector of numbers that is affine in the parameters.
type Parametric struct {
	base    []float64
	changes []change
	deps    []*affine.Parameter
}

// change adds coef times entry at of a parameter to a number.
type change struct {
	pos, at int
	p       *affine.Parameter
	coef    float64
}

// Put adds coef, times entry at of p where there is one, to a number.
func (n *Parametric) Put(pos int, p *affine.Parameter, at int, coef float64) {
	if p == nil {
		n.base[pos] += coef
		return
	}
	n.changes = append(n.changes, change{pos, at, p, coef})
	n.dependsOn(p)
}

func (n *Parametric) dependsOn(p *affine.Parameter) {
	if p != nil && !slices.Contains(n.deps, p) {
		n.deps = append(n.deps, p)
	}
}

// Value computes the numbers at the parameters' current values.
func (n *Parametric) Value(out []float64) {
	copy(out, n.base)
	n.change(out)
}

// change does the same to numbers that differ in what depends on parameters only.
func (n *Parametric) change(out []float64) {
	for _, c := range n.changes {
		out[c.pos] = n.base[c.pos]
	}
	for _, c := range n.changes {
		out[c.pos] += c.coef * c.p.Values[c.at]
	}
}
