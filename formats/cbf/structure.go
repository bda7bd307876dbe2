package cbf

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// powerCones reads POWCONES or POW*CONES: the number of entries and of powers, and
// for each entry its number of powers and then those.
func (r *reader) powerCones() {
	list := &r.powers
	if r.Field == "POW*CONES" {
		list = &r.dualPower
	}
	if r.seen["VAR"] || r.seen["CON"] {
		r.Fail("comes after VAR or CON, expected before")
	}
	r.line(2, "the number of cones and of powers")
	cones, sum := r.count(0, "the number of cones"), r.count(1, "the number of powers")
	for range cones {
		r.line(1, "the number of powers of a cone")
		n := r.count(0, "the number of powers of a cone")
		if n == 0 || n > sum {
			r.Fail("a cone with %d powers, expected at least one and %d in all", n, sum)
		}
		sum -= n
		var powers []float64
		for range n {
			r.line(1, "a power")
			v := r.Number(r.Words[0])
			if !(v > 0) {
				r.Fail("power %g found, expected a positive number", v)
			}
			powers = append(textfile.Grow(r.Source, powers, 1), v)
		}
		if reason := badPowers(powers); reason != "" {
			r.Fail("%s", reason)
		}
		*list = append(textfile.Grow(r.Source, *list, 1), powers)
	}
	if sum != 0 {
		r.Fail("%d powers fewer than announced", sum)
	}
}

// badPowers says what is wrong with the powers of a cone: divided by their sum, each
// must be a number between 0 and 1.
func badPowers(powers []float64) string {
	sum := 0.0
	for _, v := range powers {
		sum += v
	}
	if math.IsInf(sum, 1) {
		return "the sum of the powers is infinite"
	}
	for _, v := range powers {
		if a := v / sum; !(a > 0) || a >= 1 && len(powers) > 1 {
			return fmt.Sprintf("power %g is too far from the others, whose sum is %g", v, sum)
		}
	}
	return ""
}

// scalarCones reads VAR or CON: the dimension, the number of cones, and the cones.
func (r *reader) scalarCones() {
	list := &r.m.Var
	if r.Field == "CON" {
		list = &r.m.Con
	}
	r.line(2, "the dimension and the number of cones")
	dim, count := r.count(0, "the dimension"), r.count(1, "the number of cones")
	r.Charge(float64(dim), program.Scalar, "%d found: so many entries", dim)
	left := dim
	for range count {
		r.line(2, "a cone and its dimension")
		c := r.cone()
		if c.Dim > left {
			r.Fail("the cones up to here have more dimensions than %d, which was announced", dim)
		}
		left -= c.Dim
		if len(c.Powers) > 2 || c.Kind == GeometricMean || c.Kind == DualGeometricMean {
			r.Charge(float64(c.Dim), program.PowerScalar, "%d found: a cone with so many powers", c.Dim)
		}
		*list = append(textfile.Grow(r.Source, *list, 1), c)
	}
	if left != 0 {
		r.Fail("the cones have %d dimensions, but %d were announced", dim-left, dim)
	}
}

// plainKinds are the cones without powers.
var plainKinds = []string{Free, Nonnegative, Nonpositive, Zero, SecondOrder, RotatedSecond,
	Exponential, DualExponential, PSDVector, GeometricMean, DualGeometricMean}

// cone reads the current line.
func (r *reader) cone() (c Cone) {
	c.Dim = r.count(1, "the dimension of a cone")
	word := r.Words[0]
	if c.Kind = string(word); !slices.Contains(plainKinds, c.Kind) {
		text, name, _ := bytes.Cut(bytes.TrimPrefix(word, []byte("@")), []byte(":"))
		list := r.powers
		switch {
		case word[0] == '@' && string(name) == "POW":
			c.Kind = Power
		case word[0] == '@' && string(name) == "POW*":
			c.Kind, list = DualPower, r.dualPower
		default:
			r.Fail("unknown cone %s", textfile.Quote(word))
		}
		k, ok := program.Int(text)
		if !ok || k < 0 || k >= len(list) {
			r.Fail("cone %s, but there are %d entries of %sCONES (they count from 0)", textfile.Quote(word), len(list), c.Kind)
		}
		c.Powers = list[k]
	}
	if reason := badDim(c); reason != "" {
		r.Fail("cone %s of dimension %d, expected %s", textfile.Quote(word), c.Dim, reason)
	}
	return c
}

// badDim says which dimension a cone must have, if it has another one.
func badDim(c Cone) string {
	switch c.Kind {
	case SecondOrder:
		if c.Dim < 1 {
			return "at least 1"
		}
	case RotatedSecond, GeometricMean, DualGeometricMean:
		if c.Dim < 2 {
			return "at least 2"
		}
	case Exponential, DualExponential:
		if c.Dim != 3 {
			return "3"
		}
	case Power, DualPower:
		if c.Dim < len(c.Powers) {
			return fmt.Sprintf("at least %d, one for each power", len(c.Powers))
		}
	case PSDVector:
		if n := backends.PSDOrder(c.Dim); n*(n+1)/2 != c.Dim {
			return "n(n+1)/2 for some n"
		}
	}
	return ""
}

// psdOrders reads PSDVAR or PSDCON.
func (r *reader) psdOrders() {
	list, each := &r.m.PSDVar, float64(program.MatrixVariable)
	if r.Field == "PSDCON" {
		list, each = &r.m.PSDCon, program.MatrixRow
	}
	r.counted("matrices", func() {
		r.line(1, "the order of a matrix")
		n := r.count(0, "the order of a matrix")
		if n == 0 {
			r.Fail("a matrix of order 0, expected at least 1")
		}
		r.Charge(program.Triangle(n), each, "%d found: a matrix with %.0f entries", n, program.Triangle(n))
		*list = append(textfile.Grow(r.Source, *list, 1), n)
	})
}
