package augmented

import (
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
)

// Over returns b with second-order and exponential cones, and the dual ones of these, besides its own. Problems without
// them go to b as they are. The backend has to take quadratic objectives, zero cones and updates of matrices.
func Over(b backends.ConicBackend) backends.ConicBackend { return backend{b} }

type backend struct{ inner backends.ConicBackend }

func (b backend) Name() string { return b.inner.Name() }

func (b backend) Capabilities() backends.Capabilities {
	c := b.inner.Capabilities()
	c.Cones = append(slices.Clone(c.Cones), added...)
	slices.Sort(c.Cones)
	c.BySequence = append(slices.Clone(c.BySequence), added...)
	return c
}

// added are the cones of this package.
var added = []backends.ConeKind{backends.SecondOrderCone, backends.ExponentialCone, backends.DualExponentialCone}

func (b backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	if !slices.ContainsFunc(p.Cones, func(c backends.Cone) bool { return slices.Contains(added, c.Kind) }) {
		return b.inner.Setup(p, o)
	}
	return adapter.Begin(&solver{inner: b.inner, sigma: 1, weight: firstWeight}, p, o)
}
