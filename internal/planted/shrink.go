package planted

import (
	"math"
	"reflect"
	"slices"

	"github.com/conetune/conetune/backends"
)

// shrink returns a smaller and simpler case for which fails still holds, and of which
// all that is said to be known still holds, too. It drops cones, rows and columns, and
// makes numbers 0, 1 or short, until nothing helps or budget calls of fails are used up. The case itself must fail.
func shrink(c *Case, budget int, fails func(*Case) bool) *Case {
	s := &shrinker{best: c.clone(), left: budget, fails: fails}
	for s.moved = true; s.moved && s.left > 0; {
		s.moved = false
		s.parts()
		s.numbers()
	}
	return s.best
}

type shrinker struct {
	best  *Case
	left  int
	fails func(*Case) bool
	moved bool
}

// try keeps a change of the best case if the case still fails.
func (s *shrinker) try(change func(c *Case)) bool {
	if s.left <= 0 {
		return false
	}
	c := s.best.clone()
	change(c)
	n := len(c.Q)
	for i := range c.P { // the upper triangle counts
		for j := range i {
			c.P[i][j] = c.P[j][i]
		}
	}
	if n == 0 || c.complete() != nil || reflect.DeepEqual(c, s.best) {
		return false
	}
	s.left--
	if !s.fails(c) {
		return false
	}
	s.best, s.moved = c, true
	return true
}

// complete makes b and q follow from the planted points again. The error says what does not hold.
func (c *Case) complete() error {
	if c.Class == Optimal {
		c.DualX = c.X
	}
	if c.X != nil {
		c.setB()
	}
	if c.DualX != nil {
		c.setQ()
	}
	c.measure()
	return c.Verify()
}

// parts drops P, cones, rows and columns.
func (s *shrinker) parts() {
	if s.best.P != nil {
		s.try(func(c *Case) { c.P = nil })
	}
	s.try(func(c *Case) { c.Stored = false })
	for k := len(s.best.Cones) - 1; k >= 0; k-- {
		s.try(func(c *Case) {
			c.dropRows(c.rowsOf(k))
			c.Cones = slices.Delete(c.Cones, k, k+1)
		})
	}
	for k := range s.best.Cones { // no slack, no multiplier
		for which := 1; which < 4; which++ {
			s.try(func(c *Case) {
				from, to := c.rowsOf(k)
				if which&1 != 0 && c.Z != nil {
					clear(c.Z[from:to])
				}
				if which&2 != 0 && c.S != nil {
					clear(c.S[from:to])
				}
			})
		}
	}
	for k := len(s.best.Cones) - 1; k >= 0; k-- {
		for i := s.best.Cones[k].Dim - 1; i >= 0; i-- {
			s.try(func(c *Case) { c.dropRow(k, i) })
		}
	}
	for j := len(s.best.Q) - 1; j >= 0; j-- {
		s.try(func(c *Case) { c.dropColumn(j) })
	}
}

// rowsOf returns the rows of cone k.
func (c *Case) rowsOf(k int) (from, to int) {
	for _, cone := range c.Cones[:k] {
		from += cone.Dim
	}
	return from, from + c.Cones[k].Dim
}

func (c *Case) dropRows(from, to int) {
	c.A = slices.Delete(c.A, from, to)
	c.perRow(func(v []float64) []float64 { return slices.Delete(v, from, to) })
}

// dropRow drops entry i of cone k where the cone exists in all dimensions.
func (c *Case) dropRow(k, i int) {
	cone := &c.Cones[k]
	switch cone.Kind {
	case backends.BoxCone:
		cone.Lower, cone.Upper = slices.Delete(cone.Lower, i, i+1), slices.Delete(cone.Upper, i, i+1)
	case backends.ZeroCone, backends.NonnegativeCone, backends.SecondOrderCone:
	default:
		return
	}
	from, _ := c.rowsOf(k)
	c.dropRows(from+i, from+i+1)
	if cone.Dim--; cone.Dim == 0 {
		c.Cones = slices.Delete(c.Cones, k, k+1)
	}
}

func (c *Case) dropColumn(j int) {
	dropped := func(v []float64) []float64 { return slices.Delete(slices.Clone(v), j, j+1) }
	if c.P != nil {
		c.P = slices.Delete(c.P, j, j+1)
	}
	for _, a := range [][][]float64{c.P, c.A} {
		for i, row := range a {
			a[i] = dropped(row)
		}
	}
	c.perColumn(dropped)
}

// numbers makes entries simpler: of P and A, of the planted points, and of q and b
// where they follow from none.
func (s *shrinker) numbers() {
	lists := func(c *Case) [][]float64 {
		out := slices.Concat(c.P, c.A)
		out = append(out, c.X, c.S, c.Z, c.Ray, c.Farkas)
		if c.Class != Optimal {
			out = append(out, c.DualX)
		}
		if c.X == nil {
			out = append(out, c.B)
		}
		if c.DualX == nil {
			out = append(out, c.Q)
		}
		return out
	}
	for k, list := range lists(s.best) {
		for i := range list {
			for _, simpler := range simplifications {
				old := lists(s.best)[k][i]
				to := simpler(old)
				if complexity(to) < complexity(old) && s.try(func(c *Case) { lists(c)[k][i] = to }) {
					break
				}
			}
		}
	}
}

// simplifications of a number, the simplest first.
var simplifications = []func(float64) float64{
	func(float64) float64 { return 0 },
	func(v float64) float64 { return math.Copysign(1, v) },
	func(v float64) float64 { return shorten(v, 1) },
	func(v float64) float64 { return shorten(v, 2) },
}

// shorten keeps some decimal digits.
func shorten(v float64, digits int) float64 {
	if v == 0 || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-float64(digits-1))
	return math.Round(v/unit) * unit
}

// complexity orders numbers by what it takes to write them.
func complexity(v float64) int {
	switch v {
	case 0:
		return 0
	case 1:
		return 1
	}
	return len(number(v))
}
