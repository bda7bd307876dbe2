package planted

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// Class says what was planted.
type Class int

// The classes of the package comment.
const (
	Optimal Class = iota
	Infeasible
	Unbounded
	Both
	Weak
	Nonconvex
	Classes // their number
)

var classNames = [...]string{"optimal", "infeasible", "unbounded", "both", "weak", "nonconvex"}

// String returns the name of the class.
func (c Class) String() string { return classNames[c] }

// Truth is what is known about a program. Nil vectors are unknown.
type Truth struct {
	Class Class
	// X and S are a feasible point, DualX and Z a dual feasible one: P DualX + A'Z = -q.
	// With the class Optimal both are optimal, and DualX is X.
	X, S, DualX, Z []float64
	// Farkas is a certificate of infeasibility, Ray a direction of descent without end.
	Farkas, Ray []float64
	// Value is the optimal value of the class Optimal, and Unit the size of the terms that it is added up from. Gap is
	// s'z - beta(z) of the planted point, which is above zero where that is rounded: the optimal value may be lower by so
	// much.
	Value, Unit, Gap float64
	// Apart says that a weak program and its dual, or the program that it follows from, have no value in common: one of
	// them has another, or no point. Answers to them may differ.
	Apart bool
}

// Case is a program with what is known about it.
type Case struct {
	ID ID
	Instance
	Truth
}

func (c *Case) clone() *Case {
	out := &Case{ID: c.ID, Instance: *c.Instance.clone(), Truth: c.Truth}
	for _, v := range out.vectors() {
		*v = slices.Clone(*v)
	}
	return out
}

// vectors are those of the truth, primal ones (of length n) first.
func (t *Truth) vectors() []*[]float64 {
	return []*[]float64{&t.X, &t.DualX, &t.Ray, &t.S, &t.Z, &t.Farkas}
}

// perColumn and perRow replace all that has an entry for each variable, or for each row, beside the matrices; what is
// unknown stays so.
func (c *Case) perColumn(f func(v []float64) []float64) { replace(f, append(c.vectors()[:3], &c.Q)) }
func (c *Case) perRow(f func(v []float64) []float64)    { replace(f, append(c.vectors()[3:], &c.B)) }

func replace(f func(v []float64) []float64, list []*[]float64) {
	for _, v := range list {
		if *v != nil {
			*v = f(*v)
		}
	}
}

// measure fills in Value and Unit from the planted points.
func (c *Case) measure() {
	c.Value, c.Unit, c.Gap = 0, 0, 0
	if c.Class != Optimal {
		return
	}
	px := c.timesP(c.X)
	var value sum
	for j, x := range c.X {
		value.addProduct(x/2, px[j])
		value.addProduct(c.Q[j], x)
		c.Unit = max(c.Unit, math.Abs(c.Q[j]*x), math.Abs(x*px[j]/2))
	}
	for i, z := range c.Z {
		c.Unit = max(c.Unit, math.Abs(c.B[i]*z))
	}
	c.Value = value.value()
	c.Gap = math.Abs(dot(c.S, c.Z) - c.beta(c.Z))
	c.Unit = max(c.Unit, math.Abs(c.Value))
}

// Mix names the cones that programs are drawn from.
type Mix string

// The mixes. Each has zero, nonnegative and box rows, and quadratic objectives.
const (
	Linear  Mix = "lin" // no other cones
	Conic   Mix = "soc" // second-order cones
	Matrix  Mix = "sdp" // second-order and semidefinite cones
	Curved  Mix = "exp" // second-order, exponential and power cones
	All     Mix = "all" // all but nuclear norms and generalized power cones
	Nuclear Mix = "nuc" // all but generalized power cones
	General Mix = "gen" // all but nuclear norms
	Every   Mix = "any" // all
)

// Mixes returns all mixes.
func Mixes() []Mix { return []Mix{Linear, Conic, Matrix, Curved, All, Nuclear, General, Every} }

// kinds are the cones of a mix beside zero, nonnegative and box rows.
func (m Mix) kinds() []backends.ConeKind {
	all := []backends.ConeKind{
		backends.ExponentialCone, backends.DualExponentialCone, backends.PowerCone, backends.DualPowerCone,
		backends.SecondOrderCone, backends.PSDCone,
	}
	general := []backends.ConeKind{backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone}
	switch m {
	case Linear:
		return nil
	case Conic:
		return all[4:5]
	case Matrix:
		return all[4:]
	case Curved:
		return all[:5]
	case All:
		return all
	case Nuclear:
		return append(all, backends.NuclearNormCone)
	case General:
		return append(all, general...)
	}
	return slices.Concat(all, []backends.ConeKind{backends.NuclearNormCone}, general)
}

// MixFor returns the widest mix that the backends take together: programs that one
// of them does not take are left out for it.
func MixFor(list ...backends.ConicBackend) Mix {
	kinds := map[backends.ConeKind]bool{}
	for _, b := range list {
		for _, k := range b.Capabilities().Cones {
			kinds[k] = true
		}
	}
	mixes := Mixes()
	slices.Reverse(mixes)
	for _, m := range mixes {
		if !slices.ContainsFunc(m.kinds(), func(k backends.ConeKind) bool { return !kinds[k] }) {
			return m
		}
	}
	return Linear
}
