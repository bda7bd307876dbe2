package exact

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/matrices"
)

// Tiny is a program that can be written in a line: min 1/2 x'Px + q'x with rows
// Lower <= b - a'x <= Upper.
type Tiny struct {
	P    [][]float64 // symmetric, nil for none
	Q    []float64
	Rows []Row
}

// Row is a row of a Tiny.
type Row struct {
	A            []float64
	B            float64
	Kind         backends.ConeKind
	Lower, Upper float64 // of a BoxCone
}

// Draw draws a program with at most maxN variables and maxM rows of integers from -3 to
// 3, of which many are zero; with a quadratic term in half of the cases.
func Draw(seed uint64, maxN, maxM int) *Tiny {
	rng := rand.New(rand.NewPCG(seed, 59))
	dense := 0.3 + 0.7*rng.Float64()
	number := func() float64 {
		if rng.Float64() > dense {
			return 0
		}
		return float64(rng.IntN(7) - 3)
	}
	vector := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = number()
		}
		return out
	}
	n, m := 1+rng.IntN(maxN), rng.IntN(maxM+1)
	t := &Tiny{Q: vector(n)}
	if rng.IntN(2) == 0 { // a Gram matrix, mostly singular
		t.P = make([][]float64, n)
		for i := range t.P {
			t.P[i] = make([]float64, n)
		}
		for range 1 + rng.IntN(n) {
			v := vector(n)
			for i := range n {
				for j := range n {
					t.P[i][j] += v[i] * v[j]
				}
			}
		}
	}
	kinds := []backends.ConeKind{backends.ZeroCone, backends.NonnegativeCone, backends.NonnegativeCone, backends.BoxCone}
	for range m {
		r := Row{A: vector(n), B: number(), Kind: kinds[rng.IntN(len(kinds))]}
		if r.Kind == backends.BoxCone {
			a, b := number(), number()
			r.Lower, r.Upper = min(a, b), max(a, b)
			switch rng.IntN(4) {
			case 0:
				r.Lower = math.Inf(-1)
			case 1:
				r.Upper = math.Inf(1)
			}
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// Scaled multiplies rows, variables, the objective and the right-hand sides by powers of
// two, which rounds nothing, with exponents from -most to most.
func (t *Tiny) Scaled(seed uint64, most int) *Tiny {
	rng := rand.New(rand.NewPCG(seed, 61))
	power := func() float64 { return math.Ldexp(1, rng.IntN(2*most+1)-most) }
	c := t.clone()
	objective, right := power(), power()
	column := make([]float64, len(t.Q))
	for j := range column {
		column[j] = power()
		c.Q[j] *= objective * column[j]
	}
	for i, row := range c.P {
		for j := range row {
			row[j] *= objective * column[i] * column[j]
		}
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		by := power()
		for j := range r.A {
			r.A[j] *= by * column[j]
		}
		r.B *= by * right
		r.Lower *= by * right
		r.Upper *= by * right
	}
	return c
}

// Problem returns the program in the form of package backends.
func (t *Tiny) Problem() *backends.Problem {
	n, m := len(t.Q), len(t.Rows)
	p := &backends.Problem{Q: t.Q, B: make([]float64, m)}
	if t.P != nil {
		p.P = matrices.Of(n, n, func(i, j int) float64 {
			if i > j {
				return 0
			}
			return t.P[i][j]
		})
	}
	if m > 0 {
		p.A = matrices.Of(m, n, func(i, j int) float64 { return t.Rows[i].A[j] })
	}
	for i, r := range t.Rows {
		p.B[i] = r.B
		if i == 0 || t.Rows[i-1].Kind != r.Kind {
			p.Cones = append(p.Cones, backends.Cone{Kind: r.Kind})
		}
		c := &p.Cones[len(p.Cones)-1]
		c.Dim++
		if r.Kind == backends.BoxCone {
			c.Lower, c.Upper = append(c.Lower, r.Lower), append(c.Upper, r.Upper)
		}
	}
	return p
}

// String writes the program in a line.
func (t *Tiny) String() string {
	var out strings.Builder
	out.WriteString("min ")
	if t.P != nil {
		var rows []string
		for _, r := range t.P {
			rows = append(rows, strings.Trim(fmt.Sprint(r), "[]"))
		}
		fmt.Fprintf(&out, "1/2 x'[%s]x + ", strings.Join(rows, "; "))
	}
	fmt.Fprintf(&out, "(%s)x", strings.Trim(fmt.Sprint(t.Q), "[]"))
	for _, r := range t.Rows {
		left := fmt.Sprintf("(%s)x", strings.Trim(fmt.Sprint(r.A), "[]"))
		switch r.Kind {
		case backends.ZeroCone:
			fmt.Fprintf(&out, ", %s = %g", left, r.B)
		case backends.NonnegativeCone:
			fmt.Fprintf(&out, ", %s <= %g", left, r.B)
		default:
			fmt.Fprintf(&out, ", %g <= %g - %s <= %g", r.Lower, r.B, left, r.Upper)
		}
	}
	return out.String()
}

// smaller calls visit with programs that have a row, a variable, the quadratic term, a
// bound or a nonzero less, until it returns true.
func (t *Tiny) smaller(visit func(*Tiny) bool) {
	for i := range t.Rows {
		c := t.clone()
		c.Rows = append(c.Rows[:i], c.Rows[i+1:]...)
		if visit(c) {
			return
		}
	}
	for j := range t.Q {
		if len(t.Q) > 1 && visit(t.without(j)) {
			return
		}
	}
	c := t.clone()
	c.P = nil
	if t.P != nil && visit(c) {
		return
	}
	for i := range t.Rows {
		if r := t.Rows[i]; r.Kind == backends.BoxCone {
			for _, kind := range []backends.ConeKind{backends.ZeroCone, backends.NonnegativeCone} {
				c := t.clone()
				c.Rows[i].Kind, c.Rows[i].Lower, c.Rows[i].Upper = kind, 0, 0
				if visit(c) {
					return
				}
			}
		}
	}
	numbers := len(t.numbers())
	for k := range numbers {
		for _, by := range []float64{0, 1, 2} {
			c := t.clone()
			v := c.numbers()[k]
			if !(math.Abs(*v) > by) || math.IsInf(*v, 0) {
				continue
			}
			*v = math.Copysign(by, *v)
			if by == 0 {
				*v = 0
			}
			c.mirror()
			if visit(c) {
				return
			}
		}
	}
}

// numbers points to all numbers, of P to the upper triangle.
func (t *Tiny) numbers() []*float64 {
	var out []*float64
	for i := range t.P {
		for j := i; j < len(t.P); j++ {
			out = append(out, &t.P[i][j])
		}
	}
	for j := range t.Q {
		out = append(out, &t.Q[j])
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		for j := range r.A {
			out = append(out, &r.A[j])
		}
		out = append(out, &r.B)
		if r.Kind == backends.BoxCone {
			out = append(out, &r.Lower, &r.Upper)
		}
	}
	return out
}

// mirror copies the upper triangle of P to the lower.
func (t *Tiny) mirror() {
	for i := range t.P {
		for j := range i {
			t.P[i][j] = t.P[j][i]
		}
	}
}

func (t *Tiny) clone() *Tiny {
	c := &Tiny{Q: append([]float64(nil), t.Q...)}
	for _, r := range t.P {
		c.P = append(c.P, append([]float64(nil), r...))
	}
	for _, r := range t.Rows {
		r.A = append([]float64(nil), r.A...)
		c.Rows = append(c.Rows, r)
	}
	return c
}

// without returns the program without variable j.
func (t *Tiny) without(j int) *Tiny {
	cut := func(v []float64) []float64 { return append(append([]float64(nil), v[:j]...), v[j+1:]...) }
	c := &Tiny{Q: cut(t.Q)}
	for i, r := range t.P {
		if i != j {
			c.P = append(c.P, cut(r))
		}
	}
	for _, r := range t.Rows {
		r.A = cut(r.A)
		c.Rows = append(c.Rows, r)
	}
	return c
}
