package planted

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
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
	// Wild says that answers have to be of the right form, and nothing else.
	Wild bool `json:",omitempty"`
	// Value and Least are the objectives of the points, between which the optimal value lies: +Inf and -Inf without one.
	// With the class Optimal they differ by what rounding leaves of s'z - beta(z). Unit is the size of the terms that they
	// are added up from.
	Value, Least, Unit float64 `json:"-"`
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

// reclass sets the class by what is known where there is no value.
func (c *Case) reclass() {
	switch {
	case c.Farkas != nil && c.Ray != nil:
		c.Class = Both
	case c.Farkas != nil:
		c.Class = Infeasible
	case c.Ray != nil:
		c.Class = Unbounded
	default:
		c.Class = Weak
	}
}

// Measure fills in Value, Least and Unit from the planted points.
func (c *Case) Measure() {
	c.Value, c.Least, c.Unit = math.Inf(1), math.Inf(-1), 0
	if c.X != nil {
		c.Value, c.Unit = c.objective(c.X)
	}
	if c.DualX != nil {
		var s dense.Sum
		for j, u := range c.DualX {
			s.AddProduct(-u/2, dot(c.rowOfP(j), c.DualX))
		}
		for i, z := range c.Z {
			s.AddProduct(-c.B[i], z)
			c.Unit = max(c.Unit, math.Abs(c.B[i]*z))
		}
		s.Add(c.beta(c.Z))
		c.Least = s.Value()
		c.Unit = max(c.Unit, math.Abs(c.Least))
	}
	if c.Class == Optimal {
		c.Unit, c.Least = max(c.Unit, math.Abs(c.Value)), c.Value-math.Abs(dot(c.S, c.Z)-c.beta(c.Z))
	}
}

// rowOfP is nil where P is.
func (in *Instance) rowOfP(j int) []float64 {
	if in.P == nil {
		return nil
	}
	return in.P[j]
}

// objective returns 1/2 x'Px + q'x and the size of its largest term.
func (in *Instance) objective(x []float64) (value, size float64) {
	var s dense.Sum
	for j, v := range x {
		s.AddProduct(in.Q[j], v)
		s.AddProduct(v/2, dot(in.rowOfP(j), x))
		size = max(size, math.Abs(in.Q[j]*v), math.Abs(v*dot(in.rowOfP(j), x))/2)
	}
	return s.Value(), size
}

// JSON has no infinities: bounds of boxes that are it become the largest number.
func (c *Case) swapInfinities(from, to float64) *Case {
	out := c.clone()
	for _, k := range out.Cones {
		for i := range k.Lower {
			if k.Lower[i] == -from {
				k.Lower[i] = -to
			}
			if k.Upper[i] == from {
				k.Upper[i] = to
			}
		}
	}
	return out
}

// String is the case as JSON.
func (c *Case) String() string {
	text, err := json.Marshal((*plainCase)(c.swapInfinities(math.Inf(1), math.MaxFloat64)))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// plainCase is a Case without methods.
type plainCase Case
