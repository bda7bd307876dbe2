package convex

import "slices"

// parameterMap adds coef[k] * p[idx[k]] to position pos[k] of a vector of numbers.
type parameterMap struct {
	p        *Parameter
	pos, idx []int
	coef     []float64
}

func (pm *parameterMap) add(pos, idx int, coef float64) {
	pm.pos, pm.idx, pm.coef = append(pm.pos, pos), append(pm.idx, idx), append(pm.coef, coef)
}

func (pm *parameterMap) apply(out []float64) {
	for k, pos := range pm.pos {
		out[pos] += pm.coef[k] * pm.p.values[pm.idx[k]]
	}
}

// numbers is a vector of numbers that is affine in the parameters.
type numbers struct {
	base []float64
	maps []parameterMap
	deps []*Parameter
}

func (n *numbers) dependsOn(p *Parameter) {
	if p != nil && !slices.Contains(n.deps, p) {
		n.deps = append(n.deps, p)
	}
}

// put adds a map that has entries.
func (n *numbers) put(pm parameterMap) {
	if len(pm.pos) > 0 {
		n.maps = append(n.maps, pm)
		n.dependsOn(pm.p)
	}
}

// value computes the numbers at the parameters' current values.
func (n *numbers) value(out []float64) {
	copy(out, n.base)
	n.change(out)
}

// change does the same to numbers that differ in what depends on parameters only.
func (n *numbers) change(out []float64) {
	for _, pm := range n.maps {
		for _, pos := range pm.pos {
			out[pos] = n.base[pos]
		}
	}
	for k := range n.maps {
		n.maps[k].apply(out)
	}
}
