package backends

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/conetune/conetune/internal/must"
)

type nameless struct{ scripted }

func (*nameless) Name() string { return "" }

func TestRegistry(t *testing.T) {
	assert.Panics(t, func() { Register(nil) })
	assert.Panics(t, func() { Register(&nameless{}) })

	before, knownBefore := Names(), Known()
	_, err := Open("scripted")
	assert.ErrorContains(t, err, `unknown backend "scripted"; known are: clarabel, highs, native, osqp, scs`)

	// A backend of the project that the build lacks is known by name.
	known["paid"] = "buy it"
	t.Cleanup(func() { delete(known, "paid") })
	_, err = Open("paid")
	assert.ErrorContains(t, err, `this build lacks "paid"; to get it: buy it`)
	assert.Equal(t, "buy it", Missing("paid"))
	assert.Contains(t, Known(), "paid")
	assert.NotContains(t, Names(), "paid")

	b := &scripted{capabilities: Capabilities{Cones: []ConeKind{PowerCone, NonnegativeCone}}, answer: exact}
	Register(b)
	t.Cleanup(func() { delete(registry.backends, "scripted") })
	assert.Panics(t, func() { Register(b) })
	assert.Equal(t, slices.Sorted(slices.Values(append(before, "scripted"))), Names())
	assert.Equal(t, slices.Sorted(slices.Values(append(knownBefore, "paid", "scripted"))), Known())
	assert.Empty(t, Missing("scripted"))

	opened := must.Of(Open("scripted"))(t)
	assert.Equal(t, "scripted", opened.Name())
	assert.True(t, opened.Capabilities().Supports(NonnegativeCone))
	assert.False(t, opened.Capabilities().Supports(PSDCone))

	// Another backend that cannot do something names this one.
	other := &nameless{}
	p := &Problem{Q: []float64{1}, A: column(1, 0, 0), B: []float64{1, 1, 1}, Cones: []Cone{Power(0.5)}}
	_, err = Checked(other).Setup(p, Options{})
	assert.ErrorContains(t, err, "does not support the power cone; these do: ")
	assert.ErrorContains(t, err, "scripted")
}

func TestNames(t *testing.T) {
	assert.Equal(t, "primal_infeasible", PrimalInfeasible.String())
	assert.Equal(t, "Status(99)", Status(99).String())
	assert.Equal(t, "dual power", DualPowerCone.String())
	assert.Equal(t, "ConeKind(-1)", ConeKind(-1).String())
	assert.Equal(t, 3.0, Residuals{1, 3, 2}.Max())
	for n := range 200 {
		assert.Equal(t, n, PSDOrder(PSD(n).Dim))
		if n > 0 {
			assert.Equal(t, n, PSDOrder(PSD(n+1).Dim-1))
		}
	}
}
