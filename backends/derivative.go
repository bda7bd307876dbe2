package backends

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/conetune/conetune/backends/internal/ldl"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/stop"
)

// Derivative is the derivative of a solution in the numbers of a problem: the implicit function theorem for
//
//	Px + q + A'z = 0,  Ax + s = b,  s = projection of s - z onto K
//
// (A. Agrawal, S. Barratt, S. Boyd, E. Busseti, W. Moursi: Differentiating through a cone program, 2019), by a sparse
// symmetric factor of its own, so that it does not matter which backend has found the point. With N the entries of the
// factor, a derivative takes O(N); a semidefinite cone of order k is a dense block of k(k+1)/2 rows.
//
// The projection has one derivative where s and z are strictly complementary. Elsewhere, Kinks, it is that of the point
// as it is given. Where the linear equations have no solution, the one of the least squares is taken, and where they
// have several, the least one, both in the units of an equilibration.
type Derivative struct {
	// Kinks are the first rows of cones where s and z are not strictly complementary, as far as the point can tell.
	Kinks []int
	// Loose says for each x_j whether solutions with other values of it are near.
	Loose []bool

	n        int
	t        tangents
	row      []float64 // the units of the rows: those of s are size[0] / row, of z size[1] row
	size     [2]float64
	factor   *ldl.Factor
	ptr, ind []int32 // the scaled matrix, its upper triangle
	val      []float64
	unit     []float64 // of the unknowns
	stop     stop.Stop
}

// ErrDegenerate says that a solution has no derivative, or several.
var ErrDegenerate = errors.New("the solution is degenerate")

var errNoContext = errors.New("backends: the context is nil")

const (
	// derivativeShift regularises the matrix, whose entries are near 1. Singular values below it count as zero.
	derivativeShift = 1e-10
	derivativeSteps = 100
	// denseBytes are those of an entry of E and of the factor.
	denseBytes = 40
	// consistent is the share of the right-hand side that an equation may miss.
	consistent = 1e-7
	// unitsApart bounds how much smaller the unit of s or z is than the other, where all that has it is zero.
	unitsApart = 1e-6
)

// NewDerivative linearises a problem at a solution of it, all parts of which are needed. The error is for a problem
// that is not valid, for a point of other lengths or that is not finite and, a [*MemoryError], for a factor that takes
// more memory than there is, or that of the context, which ends the factorisation.
func NewDerivative(ctx context.Context, p *Problem, at Point) (*Derivative, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	n, m := p.Dims()
	if len(at.X) != n || len(at.S) != m || len(at.Z) != m || !allFinite(at.X) || !allFinite(at.S) || !allFinite(at.Z) {
		return nil, bad("Point", "has not %d finite numbers in X, and %d in S and Z", n, m)
	}
	d := &Derivative{n: n, t: tangents{of: make([][]coupling, m), block: new(Triplets)}}
	dense := int64(0)
	for _, c := range p.Cones {
		if !c.Kind.Intervals() && c.Kind != SecondOrderCone {
			dense += denseBytes * int64(c.Dim) * int64(c.Dim)
		}
	}
	if err := enough(dense, 0); err != nil {
		return nil, err
	}
	d.stop.Begin(ctx, 0)
	defer d.stop.End()
	d.scale(p, at)
	for first, c := range Rows(p.Cones) {
		s, z := make([]float64, c.Dim), make([]float64, c.Dim)
		for i := range s {
			r := first + i
			if s[i] = at.S[r]; c.Kind.Intervals() {
				low, high := c.interval(i)
				s[i] = max(0, min(s[i]-low, high-s[i]))
			}
			s[i] *= d.row[r] / d.size[0]
			z[i] = at.Z[r] / (d.row[r] * d.size[1])
		}
		if d.stop.Reached(c.Dim * c.Dim) {
			return nil, d.stop.Cause()
		}
		if c.Dim > 0 {
			families[c.Kind].tangent(c, &d.t, first, s, z)
		}
	}
	d.Kinks = d.t.kinks
	if err := d.build(p); err != nil {
		return nil, err
	}
	probe := make([]float64, len(d.unit))
	for j := range n {
		probe[j] = math.Cos(float64(j))
	}
	_, left := d.refined(probe)
	for _, v := range left[:n] {
		d.Loose = append(d.Loose, !(math.Abs(v) <= consistent))
	}
	if d.stop.Look() {
		return nil, d.stop.Cause()
	}
	return d, nil
}

// enough says whether that many bytes are there.
func enough(lasting, passing int64) error {
	if limit := memory.Default(); lasting+passing > limit {
		return &MemoryError{Need: lasting + passing, Limit: limit, What: "a factor"}
	}
	return nil
}

// scale chooses the units: the largest entry of the rows of a cone is 1, and so are those of s, b and x together and of
// z and q.
func (d *Derivative) scale(p *Problem, at Point) {
	d.row = make([]float64, len(p.B))
	entries(p.A, func(i, _ int, v float64) { d.row[i] = max(d.row[i], math.Abs(v)) })
	for i, v := range d.row {
		d.row[i] = 1 / nonzero(v)
	}
	Blocks(p.Cones, func(first, dim int) {
		least := math.Inf(1)
		for _, v := range d.row[first : first+dim] {
			least = min(least, v)
		}
		for i := range dim {
			d.row[first+i] = least
		}
	})
	d.size = [2]float64{maxAbs(at.X), maxAbs(p.Q)}
	for i, e := range d.row {
		d.size[0] = max(d.size[0], e*math.Abs(at.S[i]), e*math.Abs(p.B[i]))
		d.size[1] = max(d.size[1], math.Abs(at.Z[i])/e)
	}
	d.size = [2]float64{nonzero(max(d.size[0], unitsApart*d.size[1])), nonzero(max(d.size[1], unitsApart*d.size[0]))}
}

func nonzero(v float64) float64 {
	if v > 0 {
		return v
	}
	return 1
}

// build factors [P (EA)'; EA B], see tangents, equilibrated.
func (d *Derivative) build(p *Problem) error {
	n := d.n
	k := NewTriplets(0)
	for j := range n {
		k.Add(j, j, 0)
	}
	entries(p.P, func(i, j int, v float64) { k.Add(i, j, v*d.size[0]/d.size[1]) })
	entries(p.A, func(i, j int, v float64) {
		for _, e := range d.t.of[i] {
			k.Add(j, n+e.unknown, e.factor*d.row[i]*v)
		}
	})
	for at, v := range d.t.block.Value {
		k.Add(n+int(d.t.block.Row[at]), n+int(d.t.block.Col[at]), v)
	}
	total := n + len(d.t.sign)
	var err error
	if d.ptr, d.ind, d.val, err = k.forFactor(total); err != nil {
		return err
	}
	d.unit = slices.Repeat([]float64{1}, total)
	for range 4 { // of D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, 2001
		largest := make([]float64, total)
		d.each(func(i, j, at int) {
			v := math.Abs(d.val[at])
			largest[i], largest[j] = max(largest[i], v), max(largest[j], v)
		})
		for i, v := range largest {
			largest[i] = 1 / math.Sqrt(nonzero(v))
			d.unit[i] *= largest[i]
		}
		d.each(func(i, j, at int) { d.val[at] *= largest[i] * largest[j] })
	}
	sign, shift := make([]int8, total), make([]float64, total)
	for i := range sign {
		if sign[i] = 1; i >= n {
			sign[i] = d.t.sign[i-n]
		}
		shift[i] = derivativeShift * float64(sign[i])
	}
	d.factor, err = ldl.AnalyzeWith(total, d.ptr, d.ind, sign, ldl.Options{Memory: enough, Stop: &d.stop})
	if err == nil {
		d.factor.Factorize(d.val, shift, 0, derivativeShift)
	}
	if d.stop.Reached(0) {
		return d.stop.Cause()
	}
	return err
}

// each visits the entries of the upper triangle.
func (d *Derivative) each(visit func(i, j, at int)) {
	for j := range d.unit {
		for at := d.ptr[j]; at < d.ptr[j+1]; at++ {
			visit(int(d.ind[at]), j, int(at))
		}
	}
}

// refined solves the equations by refinement with the regularised factor, the proximal point method. From zero it leads
// to the solution of least norm; what it leaves of a right-hand side is what no solution has.
func (d *Derivative) refined(right []float64) (x, left []float64) {
	x, left = make([]float64, len(right)), append([]float64(nil), right...)
	size := maxAbs(right)
	least := unitRoundoff * size
	for range derivativeSteps {
		step := append([]float64(nil), left...)
		d.factor.Solve(step)
		for i, v := range step {
			x[i] += v
		}
		copy(left, right)
		d.each(func(i, j, at int) {
			if left[i] -= d.val[at] * x[j]; i != j {
				left[j] -= d.val[at] * x[i]
			}
		})
		last := size
		if size = maxAbs(left); !(size < 0.9*last) || size <= least || d.stop.Reached(len(d.val)) {
			break
		}
	}
	return x, left
}

// Solve returns the changes x, and z of the multipliers, that solve the linearised equations
//
//	P x + A'z = c,  A x + s = b,  (s, z) tangent to the pairs that are complementary.
//
// With changes dP, dA, dq and db of the numbers the solution changes by that for c = -(dP x + dq + dA'z) and
// b = db - dA x at the solution. The map is symmetric: Solve(g, 0) are the derivatives of g'x in -q and b. The
// error is that of the context or, with the answer, [ErrDegenerate] where the equations have no solution. It panics
// unless c has length n and b length m.
func (d *Derivative) Solve(ctx context.Context, c, b []float64) (x, z []float64, err error) {
	mustHave(d.factor != nil && len(c) == d.n && len(b) == len(d.row))
	if ctx == nil {
		return nil, nil, errNoContext
	}
	d.stop.Begin(ctx, 0)
	defer d.stop.End()
	right := make([]float64, len(d.unit))
	for j, v := range c {
		right[j] = v / d.size[1]
	}
	for i, v := range b {
		for _, e := range d.t.of[i] {
			right[d.n+e.unknown] += e.factor * d.row[i] * v / d.size[0]
		}
	}
	for i, v := range d.unit {
		right[i] *= v
	}
	all, left := d.refined(right)
	if !(maxAbs(left) <= consistent*maxAbs(right)) {
		err = ErrDegenerate
		for i, v := range left {
			right[i] -= v
		}
		all, _ = d.refined(right)
	}
	if d.stop.Look() {
		return nil, nil, d.stop.Cause()
	}
	for i, v := range d.unit {
		all[i] *= v
	}
	x, z = all[:d.n:d.n], make([]float64, len(b))
	for j := range x {
		x[j] *= d.size[0]
	}
	for i := range z {
		for _, e := range d.t.of[i] {
			z[i] += d.size[1] * d.row[i] * e.factor * all[d.n+e.unknown]
		}
	}
	return x, z, err
}
