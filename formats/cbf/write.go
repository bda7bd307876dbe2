package cbf

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/words"
)

// Encode writes the model, such that [Decode] reads the same one.
func (m *Model) Encode(w io.Writer) error {
	out := bufio.NewWriter(w)
	sense := "MIN"
	if m.Maximize {
		sense = "MAX"
	}
	fmt.Fprintf(out, "VER\n%d\n\nOBJSENSE\n%s\n", max(1, m.Version), sense)
	cones := m.encodePowers(out)
	for k, part := range [][]Cone{m.Var, m.Con} {
		if len(part) > 0 {
			fmt.Fprintf(out, "\n%s\n%d %d\n", [2]string{"VAR", "CON"}[k], total(part), len(part))
			for _, c := range part {
				fmt.Fprintf(out, "%s %d\n", cones[0], c.Dim)
				cones = cones[1:]
			}
		}
	}
	for k, part := range [][]int{m.PSDVar, m.PSDCon} {
		if len(part) > 0 {
			fmt.Fprintf(out, "\n%s\n%d\n", [2]string{"PSDVAR", "PSDCON"}[k], len(part))
			for _, n := range part {
				fmt.Fprintln(out, n)
			}
		}
	}
	if m.Constant != 0 {
		fmt.Fprintf(out, "\nOBJBCOORD\n%s\n", words.Exact(m.Constant))
	}
	for _, s := range sections {
		entries := *s.list(m)
		if len(entries) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n%d\n", s.keyword, len(entries))
		for _, e := range entries {
			for _, i := range e.Index[:len(s.indices)] {
				fmt.Fprintf(out, "%d ", i)
			}
			fmt.Fprintln(out, words.Exact(e.Value))
		}
	}
	return out.Flush()
}

// encodePowers writes the powers of the cones, and returns the words for all cones, those of VAR first.
func (m *Model) encodePowers(out io.Writer) (kinds []string) {
	powers, sum := map[string][][]float64{}, map[string]int{}
	for _, part := range [][]Cone{m.Var, m.Con} {
		for _, c := range part {
			word := c.Kind
			if c.Kind == Power || c.Kind == DualPower {
				word = fmt.Sprintf("@%d:%s", len(powers[c.Kind]), c.Kind)
				powers[c.Kind] = append(powers[c.Kind], c.Powers)
				sum[c.Kind] += len(c.Powers)
			}
			kinds = append(kinds, word)
		}
	}
	for _, kind := range []string{Power, DualPower} {
		if len(powers[kind]) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%sCONES\n%d %d\n", kind, len(powers[kind]), sum[kind])
		for _, p := range powers[kind] {
			fmt.Fprintln(out, len(p))
			for _, v := range p {
				fmt.Fprintln(out, words.Exact(v))
			}
		}
	}
	return kinds
}

// FromConic is the model of a conic program and a constant of its objective, to be written by [Model.Encode]. The rows
// of the program are constraints in its order, those of boxes of two finite bounds two of them; a quadratic objective
// is the last variable, t >= |Rx|^2/2 with R'R = P, in a rotated cone. The error is for a P that is not positive
// semidefinite, and for the cone of the nuclear norm, which the format has not; convex's Program.Encode puts
// semidefinite matrices in its place.
func FromConic(p *backends.Problem, constant float64) (*Model, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	n, _ := p.Dims()
	m := &Model{Version: 4, Constant: constant, Var: []Cone{{Kind: Free, Dim: n}}}
	for j, q := range p.Q {
		if q != 0 {
			m.Objective = append(m.Objective, Entry{Index: [4]int{j}, Value: q})
		}
	}
	c := &constraints{m: m, a: make([][]Entry, len(p.B)), b: p.B}
	if p.A != nil {
		for j := range n {
			program.Column(p.A, j, func(i int, v float64) {
				c.a[i] = append(c.a[i], Entry{Index: [4]int{j}, Value: v})
			})
		}
	}
	for first, cone := range backends.Rows(p.Cones) {
		if err := c.cone(first, cone); err != nil {
			return nil, err
		}
	}
	if !p.Quadratic() {
		return m, nil
	}
	root, err := squareRoot(p.P)
	if err != nil {
		return nil, err
	}
	m.Var[0].Dim++
	m.Objective = append(m.Objective, Entry{Index: [4]int{n}, Value: 1})
	m.Con = append(m.Con, Cone{Kind: RotatedSecond, Dim: 2 + len(root)})
	m.A = append(m.A, Entry{Index: [4]int{c.count, n}, Value: 1})
	m.B = append(m.B, Entry{Index: [4]int{c.count + 1}, Value: 1})
	for k, row := range root {
		for _, e := range row {
			m.A = append(m.A, Entry{Index: [4]int{c.count + 2 + k, e.Index[0]}, Value: e.Value})
		}
	}
	return m, nil
}

// constraints puts rows b - Ax of a conic program into a model.
type constraints struct {
	m     *Model
	a     [][]Entry // by rows, with their columns
	b     []float64
	count int
}

// row adds sign (b_i - a_i'x - shift).
func (c *constraints) row(i int, sign, shift float64) {
	for _, e := range c.a[i] {
		c.m.A = append(c.m.A, Entry{Index: [4]int{c.count, e.Index[0]}, Value: -sign * e.Value})
	}
	if b := sign * (c.b[i] - shift); b != 0 {
		c.m.B = append(c.m.B, Entry{Index: [4]int{c.count}, Value: b})
	}
	c.count++
}

// kindOf are the cones of package backends that the format has.
var kindOf = map[backends.ConeKind]string{
	backends.ZeroCone: Zero, backends.NonnegativeCone: Nonnegative, backends.SecondOrderCone: SecondOrder,
	backends.PSDCone: PSDVector, backends.ExponentialCone: Exponential, backends.DualExponentialCone: DualExponential,
	backends.PowerCone: Power, backends.DualPowerCone: DualPower,
	backends.GeneralizedPowerCone: Power, backends.DualGeneralizedPowerCone: DualPower,
}

func (c *constraints) cone(first int, k backends.Cone) error {
	if k.Kind == backends.BoxCone {
		c.box(first, k)
		return nil
	}
	out := Cone{Kind: kindOf[k.Kind], Dim: k.Dim, Powers: k.Weights}
	if out.Kind == "" {
		return fmt.Errorf("cbf: the format has no cone of kind %v", k.Kind)
	}
	if k.Kind == backends.PowerCone || k.Kind == backends.DualPowerCone {
		out.Powers = []float64{k.Alpha, 1 - k.Alpha}
	}
	if k.Dim > 0 {
		c.m.Con = append(c.m.Con, out)
	}
	for i := range k.Dim {
		if out.Kind == Exponential || out.Kind == DualExponential { // the format has (w, v, u) for our (u, v, w)
			i = 2 - i
		}
		c.row(first+i, 1, 0)
	}
	return nil
}

// box adds the bounds of a box as rows of their own.
func (c *constraints) box(first int, k backends.Cone) {
	for i := range k.Dim {
		lower, upper := k.Lower[i], k.Upper[i]
		switch {
		case lower == upper:
			c.bound(Zero, first+i, 1, lower)
			continue
		case !math.IsInf(lower, -1):
			c.bound(Nonnegative, first+i, 1, lower)
		}
		if !math.IsInf(upper, 1) {
			c.bound(Nonnegative, first+i, -1, upper)
		}
	}
}

// bound adds a row in a cone of one dimension.
func (c *constraints) bound(kind string, i int, sign, shift float64) {
	c.m.Con = append(c.m.Con, Cone{Kind: kind, Dim: 1})
	c.row(i, sign, shift)
}

// negligible is the share of the largest diagonal entry of a block below which its pivots are zero, and indefinite that
// above which what its root leaves of it is not rounding.
const negligible, indefinite = 1e-14, 1e-9

// squareRoot returns the rows of an R with R'R = P, by a Cholesky factor with pivots of each block of P that is coupled
// with nothing else.
func squareRoot(p *sparse.CSC) ([][]Entry, error) {
	n, _ := p.Dims()
	coupled := indices.NewSets(n)
	for j := range n {
		program.Column(p, j, func(i int, v float64) { coupled.Join(i, j) })
	}
	at := make([]int, n) // place of each column in its block
	var root [][]Entry
	for _, of := range coupled.Lists() {
		k := len(of)
		for place, j := range of {
			at[j] = place
		}
		rest, top := make([]float64, k*k), 0.0
		for _, j := range of {
			program.Column(p, j, func(i int, v float64) { rest[at[i]*k+at[j]] += v })
			top = math.Max(top, rest[at[j]*(k+1)])
		}
		for _, v := range factor.Root(rest, k, negligible*top) {
			var row []Entry
			for i, x := range v {
				if x != 0 {
					row = append(row, Entry{Index: [4]int{of[i]}, Value: x})
					floats.AddScaled(rest[i*k+i:i*k+k], -x, v[i:])
				}
			}
			root = append(root, row)
		}
		if left := floats.Norm(rest, math.Inf(1)); !(left <= indefinite*top) {
			return nil, fmt.Errorf("cbf: the quadratic objective is not positive semidefinite: its root leaves %g of it", left)
		}
	}
	return root, nil
}
