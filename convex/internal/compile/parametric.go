package compile

import (
	"slices"

	"github.com/conetune/conetune/convex/internal/affine"
)

// parameterMap adds coef[k] * p[idx[k]] to position pos[k] of a vector of numbers.
type parameterMap struct {
	p        *affine.Parameter
	pos, idx []int
	coef     []float64
}

func (pm *parameterMap) add(pos, idx int, coef float64) {
	pm.pos, pm.idx, pm.coef = append(pm.pos, pos), append(pm.idx, idx), append(pm.coef, coef)
}

func (pm *parameterMap) apply(out []float64) {
	for k, pos := range pm.pos {
		out[pos] += pm.coef[k] * pm.p.Values[pm.idx[k]]
	}
}

// parametric is a vector of numbers that is affine in the parameters.
type parametric struct {
	base []float64
	maps []parameterMap
	deps []*affine.Parameter
}

func (n *parametric) dependsOn(p *affine.Parameter) {
	if p != nil && !slices.Contains(n.deps, p) {
		n.deps = append(n.deps, p)
	}
}

// put adds a map that has entries.
func (n *parametric) put(pm parameterMap) {
	if len(pm.pos) > 0 {
		n.maps = append(n.maps, pm)
		n.dependsOn(pm.p)
	}
}

// Value computes the numbers at the parameters' current values.
func (n *parametric) Value(out []float64) {
	copy(out, n.base)
	n.change(out)
}

// change does the same to numbers that differ in what depends on parameters only.
func (n *parametric) change(out []float64) {
	for _, pm := range n.maps {
		for _, pos := range pm.pos {
			out[pos] = n.base[pos]
		}
	}
	for k := range n.maps {
		n.maps[k].apply(out)
	}
}
