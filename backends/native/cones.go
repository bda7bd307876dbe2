package native

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// kind is what the solver knows of one kind of cone before there are any points. A new
// cone is a file with a cone, see the interface, and a row of kinds.
type kind struct {
	kind  backends.ConeKind
	place place
	// ray says that a cone with one row is the ray of the nonnegative numbers.
	ray bool
	// maker takes all cones of the kind in a problem, which may share work space, and returns what makes one of
	// them. It is nil where the rows become equations and inequalities.
	maker func(all []backends.Cone, within dense.Within) func(c backends.Cone) cone
	// bytes is what a cone takes beyond its rows, for itself and for what it shares; nil for nothing.
	bytes func(c backends.Cone) (own, shared int64)
	// examples are what the tests of all cones run on.
	examples []backends.Cone
}

// place is where the rows of a cone stand in the form, see sortRows; within a part they are in the order of the caller.
type place int

const (
	equationRows   place = iota
	inequalityRows       // one cone, the orthant
	normRows             // second-order cones
	otherRows            // semidefinite and nonsymmetric cones
	places               // their number
	boundRows            // equations and inequalities, by the bounds of each row
)

var kinds = []kind{
	{kind: backends.ZeroCone, place: equationRows},
	{kind: backends.NonnegativeCone, place: inequalityRows,
		examples: []backends.Cone{backends.Nonnegative(1), backends.Nonnegative(2), backends.Nonnegative(3),
			backends.Nonnegative(4), backends.Nonnegative(5), backends.Nonnegative(9), backends.Nonnegative(40)}},
	{kind: backends.BoxCone, place: boundRows},
	{kind: backends.SecondOrderCone, place: normRows, ray: true,
		maker: alone(func(c backends.Cone) cone { return newSecondOrder(c.Dim) }),
		examples: []backends.Cone{
			backends.SecondOrder(2), backends.SecondOrder(3), backends.SecondOrder(4), backends.SecondOrder(5),
			backends.SecondOrder(9), backends.SecondOrder(40),
		}},
	{kind: backends.PSDCone, place: otherRows, ray: true, maker: semidefinites, bytes: bytesOfMatrices,
		examples: []backends.Cone{backends.PSD(2), backends.PSD(3), backends.PSD(6)}},
	{kind: backends.ExponentialCone, place: otherRows,
		maker:    alone(func(backends.Cone) cone { return newNonsymmetric(exponentialBarrier{}, false) }),
		examples: []backends.Cone{backends.Exponential()}},
	{kind: backends.DualExponentialCone, place: otherRows,
		maker:    alone(func(backends.Cone) cone { return newNonsymmetric(exponentialBarrier{}, true) }),
		examples: []backends.Cone{backends.DualExponential()}},
	{kind: backends.PowerCone, place: otherRows,
		maker:    alone(func(c backends.Cone) cone { return newNonsymmetric(powerBarrier{c.Alpha}, false) }),
		examples: []backends.Cone{backends.Power(0.3), backends.Power(0.5)}},
	{kind: backends.DualPowerCone, place: otherRows,
		maker:    alone(func(c backends.Cone) cone { return newNonsymmetric(powerBarrier{c.Alpha}, true) }),
		examples: []backends.Cone{backends.DualPower(0.3)}},
	{kind: backends.GeneralizedPowerCone, place: otherRows, bytes: bytesOfPower,
		maker: generalizedPowers(false),
		examples: []backends.Cone{
			backends.GeneralizedPower([]float64{0.3, 0.7}, 1), backends.GeneralizedPower([]float64{0.2, 0.5, 0.3}, 3),
			backends.GeneralizedPower([]float64{1}, 2),
		}},
	{kind: backends.DualGeneralizedPowerCone, place: otherRows, bytes: bytesOfPower,
		maker:    generalizedPowers(true),
		examples: []backends.Cone{backends.DualGeneralizedPower([]float64{0.2, 0.1, 0.3, 0.4}, 2)}},
}

// alone is the maker of cones that share nothing.
func alone(one func(c backends.Cone) cone) func([]backends.Cone, dense.Within) func(backends.Cone) cone {
	return func([]backends.Cone, dense.Within) func(backends.Cone) cone { return one }
}

// kindOf returns the row of a kind, nil for one that the solver does not take.
func kindOf(k backends.ConeKind) *kind {
	for i := range kinds {
		if kinds[i].kind == k {
			return &kinds[i]
		}
	}
	return nil
}

// coneKinds returns the kinds of cones that the solver takes.
func coneKinds() []backends.ConeKind {
	out := make([]backends.ConeKind, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].kind
	}
	return out
}

// placeOf returns where the rows of c stand.
func placeOf(c backends.Cone) place {
	k := kindOf(c.Kind)
	if k.ray && c.Dim == 1 {
		return inequalityRows
	}
	return k.place
}

// makers returns what makes the given cones, by their kinds.
func makers(cones []backends.Cone, within dense.Within) map[backends.ConeKind]func(backends.Cone) cone {
	all := map[backends.ConeKind][]backends.Cone{}
	for _, c := range cones {
		all[c.Kind] = append(all[c.Kind], c)
	}
	out := map[backends.ConeKind]func(backends.Cone) cone{}
	for k, of := range all {
		out[k] = kindOf(k).maker(of, within)
	}
	return out
}

// bytesOf is what the cones take beyond their rows.
func bytesOf(cones []backends.Cone) (sum int64) {
	most := map[backends.ConeKind]int64{}
	for _, c := range cones {
		if k := kindOf(c.Kind); k.bytes != nil {
			own, shared := k.bytes(c)
			sum += own
			most[c.Kind] = max(most[c.Kind], shared)
		}
	}
	for _, v := range most {
		sum += v
	}
	return sum
}
