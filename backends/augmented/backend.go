package augmented

import (
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
)

// Over returns b with second-order cones besides its own. Problems without them go to b as they are. The backend has to take quadratic objectives, zero
// cones and updates of matrices.
func Over(b backends.ConicBackend) backends.ConicBackend { return backend{b} }

type backend struct{ inner backends.ConicBackend }

func (b backend) Name() string { return b.inner.Name() }

func (b backend) Capabilities() backends.Capabilities {
	c := b.inner.Capabilities()
	c.Cones = append(slices.Clone(c.Cones), backends.SecondOrderCone)
	slices.Sort(c.Cones)
	c.BySequence = append(slices.Clone(c.BySequence), backends.SecondOrderCone)
	return c
}

func (b backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	if !slices.ContainsFunc(p.Cones, func(c backends.Cone) bool { return c.Kind == backends.SecondOrderCone && c.Dim > 0 }) {
		return b.inner.Setup(p, o)
	}
	begin := time.Now()
	o = o.WithDefaults()
	s := &solver{inner: b.inner, user: *p, options: o, form: newForm(p), sigma: 1, weight: firstWeight, innerEps: innerShare * o.Eps}
	s.judge = o.Judge(&s.user)
	s.scale = scaling.New(&s.user)
	s.take()
	s.setupTime = time.Since(begin)
	return s, nil
}
