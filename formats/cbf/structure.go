package cbf

import (
	"bytes"
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// powerCones reads POWCONES or POW*CONES: the number of entries and of powers, and
// for each entry its number of powers and then those.
func (r *reader) powerCones() error {
	list := &r.powers
	if r.section == "POW*CONES" {
		list = &r.dualPower
	}
	if r.seen["VAR"] || r.seen["CON"] {
		return r.fail("comes after VAR or CON, expected before")
	}
	if err := r.line(2, "the number of cones and of powers"); err != nil {
		return err
	}
	cones, err := r.count(0, "the number of cones")
	if err != nil {
		return err
	}
	sum, err := r.count(1, "the number of powers")
	if err != nil {
		return err
	}
	for range cones {
		if err := r.line(1, "the number of powers of a cone"); err != nil {
			return err
		}
		n, err := r.count(0, "the number of powers of a cone")
		if err != nil {
			return err
		}
		if n == 0 || n > sum {
			return r.fail("a cone with %d powers, expected at least one and %d in all", n, sum)
		}
		sum -= n
		var powers []float64
		for range n {
			if err := r.line(1, "a power"); err != nil {
				return err
			}
			v, err := r.number(0)
			if err != nil {
				return err
			}
			if !(v > 0) {
				return r.fail("power %g found, expected a positive number", v)
			}
			powers = append(textfile.Grow(r.s, powers, 1), v)
		}
		if reason := badPowers(powers); reason != "" {
			return r.fail("%s", reason)
		}
		*list = append(textfile.Grow(r.s, *list, 1), powers)
	}
	if sum != 0 {
		return r.fail("%d powers fewer than announced", sum)
	}
	return nil
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
func (r *reader) scalarCones() error {
	list := &r.m.Var
	if r.section == "CON" {
		list = &r.m.Con
	}
	if err := r.line(2, "the dimension and the number of cones"); err != nil {
		return err
	}
	dim, err := r.count(0, "the dimension")
	if err != nil {
		return err
	}
	count, err := r.count(1, "the number of cones")
	if err != nil {
		return err
	}
	if err := r.charge(float64(dim), program.Scalar, "%d found: so many entries", dim); err != nil {
		return err
	}
	left := dim
	for range count {
		if err := r.line(2, "a cone and its dimension"); err != nil {
			return err
		}
		c, err := r.cone()
		if err != nil {
			return err
		}
		if c.Dim > left {
			return r.fail("the cones up to here have more dimensions than %d, which was announced", dim)
		}
		left -= c.Dim
		if len(c.Powers) > 2 || c.Kind == GeometricMean || c.Kind == DualGeometricMean {
			if err := r.charge(float64(c.Dim), program.PowerScalar, "%d found: a cone with so many powers", c.Dim); err != nil {
				return err
			}
		}
		*list = append(textfile.Grow(r.s, *list, 1), c)
	}
	if left != 0 {
		return r.fail("the cones have %d dimensions, but %d were announced", dim-left, dim)
	}
	return nil
}

// kinds are the cones without powers.
var kinds = map[string]Kind{
	"F": Free, "L+": Nonnegative, "L-": Nonpositive, "L=": Zero, "Q": SecondOrder, "QR": RotatedSecond,
	"EXP": Exponential, "EXP*": DualExponential, "SVECPSD": PSDVector, "GMEANABS": GeometricMean, "GMEANABS*": DualGeometricMean,
}

// cone reads the current line.
func (r *reader) cone() (c Cone, err error) {
	if c.Dim, err = r.count(1, "the dimension of a cone"); err != nil {
		return c, err
	}
	word := r.words[0]
	if word[0] != '@' {
		kind, ok := kinds[string(word)]
		if !ok {
			return c, r.fail("unknown cone %s", textfile.Quote(word))
		}
		c.Kind = kind
	} else {
		text, name, _ := bytes.Cut(word[1:], []byte(":"))
		list := r.powers
		switch string(name) {
		case "POW":
			c.Kind = Power
		case "POW*":
			c.Kind, list = DualPower, r.dualPower
		default:
			return c, r.fail("unknown cone %s", textfile.Quote(word))
		}
		k, ok := program.Int(text)
		if !ok || k < 0 || k >= len(list) {
			return c, r.fail("cone %s, but there are %d entries of %sCONES (they count from 0)", textfile.Quote(word), len(list), c.Kind)
		}
		c.Powers = list[k]
	}
	if reason := badDim(c); reason != "" {
		return c, r.fail("cone %s of dimension %d, expected %s", textfile.Quote(word), c.Dim, reason)
	}
	return c, nil
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
func (r *reader) psdOrders() error {
	list, each := &r.m.PSDVar, float64(program.MatrixVariable)
	if r.section == "PSDCON" {
		list, each = &r.m.PSDCon, program.MatrixRow
	}
	return r.counted("matrices", func() error {
		if err := r.line(1, "the order of a matrix"); err != nil {
			return err
		}
		n, err := r.count(0, "the order of a matrix")
		if err != nil {
			return err
		}
		if n == 0 {
			return r.fail("a matrix of order 0, expected at least 1")
		}
		if err := r.charge(program.Triangle(n), each, "%d found: a matrix with %.0f entries", n, program.Triangle(n)); err != nil {
			return err
		}
		*list = append(textfile.Grow(r.s, *list, 1), n)
		return nil
	})
}

// charge takes the memory of n things from the budget, for the number on the current line that what names.
func (r *reader) charge(n, each float64, what string, args ...any) error {
	return r.s.Charge(r.s.LineNumber(), r.section, each*n, what, args...)
}
