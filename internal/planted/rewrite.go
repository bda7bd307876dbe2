package planted

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// rewritings make the program degenerate, or say the same in another way. All that was planted stays true, or follows
// along. They leave alone what they cannot change.
var rewritings = []func(*draw, *Case){
	(*draw).repeatRow,
	(*draw).addZeroRow,
	(*draw).sumRows,
	func(_ *draw, c *Case) { c.addColumn(make([]float64, len(c.B)), make([]float64, len(c.Q)+1), 0) }, // of zeros
	(*draw).copyColumn,
	(*draw).fix,
	(*draw).farBounds,
	(*draw).permuteColumns,
	(*draw).permuteCones,
	func(d *draw, c *Case) { c.byRows(func() int { return d.IntN(4) }) },
	func(_ *draw, c *Case) { c.dualise() },
	func(_ *draw, c *Case) { c.Whole = true },
	func(_ *draw, c *Case) { c.Stored = true },
}

func (d *draw) rewrite(c *Case) { rewritings[d.IntN(len(rewritings))](d, c) }

// line is a row of a program with its entries of all that was planted.
type line struct {
	a               []float64
	b, s, z, farkas float64
}

// lines returns the rows.
func (c *Case) lines() []line {
	at := func(v []float64, i int) float64 {
		if v == nil {
			return 0
		}
		return v[i]
	}
	out := make([]line, len(c.B))
	for i := range out {
		out[i] = line{c.A[i], c.B[i], at(c.S, i), at(c.Z, i), at(c.Farkas, i)}
	}
	return out
}

// setLines replaces the rows and the cones.
func (c *Case) setLines(list []line, cones []backends.Cone) {
	c.Cones, c.A, c.B = cones, nil, []float64{}
	c.perRow(func([]float64) []float64 { return []float64{} })
	known := c.vectors()[3:] // S, Z and Farkas
	for _, l := range list {
		c.A, c.B = append(c.A, slices.Clone(l.a)), append(c.B, l.b) // a row may be there twice
		for k, x := range []float64{l.s, l.z, l.farkas} {
			if *known[k] != nil {
				*known[k] = append(*known[k], x)
			}
		}
	}
}

// addRow adds a row with its entries of s, z and the certificate.
func (c *Case) addRow(l line, k backends.Cone) {
	c.setLines(append(c.lines(), l), append(c.Cones, k))
}

// intervalOf draws a row that is an interval, with its bounds.
func (d *draw) intervalOf(c *Case) (row int, lower, upper float64, ok bool) {
	if len(c.B) == 0 {
		return 0, 0, 0, false
	}
	row = d.IntN(len(c.B))
	c.each(func(k backends.Cone, from, to int) {
		if from <= row && row < to && k.Kind.Intervals() {
			lower, upper = k.Interval(row - from)
			ok = true
		}
	})
	return row, lower, upper, ok
}

// repeatRow adds a copy of a row, which takes half of the multiplier.
func (d *draw) repeatRow(c *Case) {
	i, lower, upper, ok := d.intervalOf(c)
	if !ok {
		return
	}
	l := c.lines()[i]
	l.z, l.farkas = 0, 0
	if c.Z != nil && d.chance(2) {
		c.Z[i] /= 2
		l.z = c.Z[i]
	}
	c.addRow(l, interval(lower, upper))
}

// addZeroRow adds a row of zeros with b in its cone.
func (d *draw) addZeroRow(c *Case) {
	lower, upper := d.box(1).Interval(0)
	if d.chance(2) {
		lower, upper = 0, []float64{0, math.Inf(1)}[d.IntN(2)]
	}
	b, _ := d.atBounds(lower, upper)
	c.addRow(line{a: make([]float64, len(c.Q)), b: b, s: b}, interval(lower, upper))
}

// sumRows adds the sum of two rows, which says nothing new.
func (d *draw) sumRows(c *Case) {
	i, lower, upper, first := d.intervalOf(c)
	k, low, high, second := d.intervalOf(c)
	if first && second {
		x, y := c.lines()[i], c.lines()[k]
		c.addRow(line{a: combine(x.a, 1, y.a), b: x.b + y.b, s: x.s + y.s}, interval(lower+low, upper+high))
	}
}

// addColumn adds a variable with columns of A and of P, whose last entry is on the diagonal, cost q and the value 0 in
// all that was planted.
func (c *Case) addColumn(a, p []float64, q float64) {
	for i := range c.A {
		c.A[i] = append(c.A[i], a[i])
	}
	if c.P != nil {
		for i := range c.P {
			c.P[i] = append(c.P[i], p[i])
		}
		c.P = append(c.P, p)
	}
	c.perColumn(func(v []float64) []float64 { return append(slices.Clone(v), 0) })
	c.Q[len(c.Q)-1] = q
}

// copyColumn adds a variable whose columns are k times those of x_j, so that x_j + k x_new takes the place of x_j.
func (d *draw) copyColumn(c *Case) {
	j, k := d.IntN(len(c.Q)), []float64{-1, 1, 2}[d.IntN(3)]
	a, p := column(c.A, j), append(column(c.P, j), 0)
	if c.P != nil {
		p[len(c.Q)] = k * p[j]
	}
	scaleBy(a, k)
	scaleBy(p, k)
	c.addColumn(a, p, k*c.Q[j])
}

// fix adds the equation x_j = its planted value, where that keeps all that was planted.
func (d *draw) fix(c *Case) {
	j, row := d.IntN(len(c.Q)), make([]float64, len(c.Q))
	if c.X == nil || c.Ray != nil && c.Ray[j] != 0 {
		return
	}
	row[j] = d.sign()
	c.addRow(line{a: row, b: row[j] * c.X[j]}, backends.Zero(1))
}

// farBounds puts bounds where a box has none, far away, unless something planted goes there.
func (d *draw) farBounds(c *Case) {
	far := []float64{0x1p33, 0x1p50, 1e20, 1e30}[d.IntN(4)]
	ray := make([]float64, len(c.B))
	if c.Ray != nil {
		ray = c.timesA(c.Ray)
	}
	c.each(func(k backends.Cone, from, _ int) {
		for i := range k.Lower {
			if ray[from+i] == 0 && (c.S == nil || math.Abs(c.S[from+i]) <= far) {
				k.Lower[i], k.Upper[i] = max(k.Lower[i], min(-far, k.Upper[i])), min(k.Upper[i], max(far, k.Lower[i]))
			}
		}
	})
}

func (d *draw) permuteColumns(c *Case) {
	order := d.Perm(len(c.Q))
	permuted := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for to, from := range order {
			out[to] = v[from]
		}
		return out
	}
	c.perColumn(permuted)
	for i, row := range c.A {
		c.A[i] = permuted(row)
	}
	old := c.P
	c.P = slices.Clone(old)
	for to := range c.P {
		c.P[to] = permuted(old[order[to]])
	}
}

func (d *draw) permuteCones(c *Case) {
	list := c.lines()
	var parts [][]line
	c.each(func(_ backends.Cone, from, to int) { parts = append(parts, list[from:to]) })
	var lines []line
	var cones []backends.Cone
	for _, k := range d.Perm(len(parts)) {
		lines, cones = append(lines, parts[k]...), append(cones, c.Cones[k])
	}
	c.setLines(lines, cones)
}

// byRows gives intervals a cone for each row, in one of the forms below; others leave the row as it is.
func (c *Case) byRows(form func() int) {
	list := c.lines()
	var lines []line
	var cones []backends.Cone
	c.each(func(k backends.Cone, from, to int) {
		if !k.Kind.Intervals() {
			lines, cones = append(lines, list[from:to]...), append(cones, k)
			return
		}
		for i, l := range list[from:to] {
			switch lower, upper := k.Interval(i); form() {
			case inequalities: // s - lower >= 0 and upper - s >= 0
				if !math.IsInf(lower, -1) {
					lines = append(lines, line{l.a, l.b - lower, l.s - lower, max(0, l.z), max(0, l.farkas)})
					cones = append(cones, backends.Nonnegative(1))
				}
				if !math.IsInf(upper, 1) {
					minus := slices.Clone(l.a)
					scaleBy(minus, -1)
					lines = append(lines, line{minus, upper - l.b, upper - l.s, max(0, -l.z), max(0, -l.farkas)})
					cones = append(cones, backends.Nonnegative(1))
				}
			case box:
				lines, cones = append(lines, l), append(cones, backends.Box([]float64{lower}, []float64{upper}))
			default:
				lines, cones = append(lines, l), append(cones, interval(lower, upper))
			}
		}
	})
	c.setLines(lines, cones)
}

const (
	inequalities = iota
	box
)

// dualise makes the dual program as one to be minimised, in the variables u and z:
//
//	minimize 1/2 u'Pu + b'z    subject to    Pu + A'z = -q,  z in K*
//
// whose value is the negative. The multipliers are -x and s, a certificate z becomes the ray (0, z), a ray x the
// certificate (-x, -Ax). Boxes become inequalities first.
func (c *Case) dualise() {
	if slices.ContainsFunc(c.Cones, func(k backends.Cone) bool { return k.Kind == backends.NuclearNormCone }) {
		return
	}
	if slices.ContainsFunc(c.Cones, func(k backends.Cone) bool { return k.Kind == backends.BoxCone }) {
		c.byRows(func() int { return inequalities })
	}
	old := c.clone()
	n, m := old.Dims()
	u := len(old.P) // the number of variables u
	if u+m == 0 {
		return
	}
	at := func(v []float64, length int) []float64 {
		if v == nil {
			return make([]float64, length)
		}
		return v
	}
	x, ray := at(old.X, n), at(old.Ray, n)
	var lines []line
	for j := range n {
		l := line{a: append(column(old.P, j), column(old.A, j)...), b: -old.Q[j], z: -x[j], farkas: -ray[j]}
		lines = append(lines, l)
	}
	cones := []backends.Cone{backends.Zero(n)}
	rows, along := old.lines(), old.timesA(ray)
	old.each(func(k backends.Cone, from, to int) {
		if k.Kind == backends.ZeroCone { // any z
			return
		}
		cones = append(cones, dual(k))
		for i := from; i < to; i++ {
			l := line{a: make([]float64, u+m), s: rows[i].z, z: rows[i].s, farkas: -along[i]}
			l.a[u+i] = -1
			lines = append(lines, l)
		}
	})
	c.Q, c.P = append(make([]float64, u), old.B...), nil
	if u > 0 {
		c.P = zeroRows(u+m, u+m)
		for i, row := range old.P {
			copy(c.P[i], row)
		}
	}
	// The points of one become those of the other.
	for _, v := range c.vectors() {
		*v = nil
	}
	if old.DualX != nil {
		c.X, c.S = slices.Concat(old.DualX[:u], old.Z), []float64{}
	}
	if old.X != nil {
		c.DualX, c.Z = append(slices.Clone(old.X[:u]), make([]float64, m)...), []float64{}
		copy(c.DualX[u:], old.Z)
	}
	if old.Farkas != nil {
		c.Ray = append(make([]float64, u), old.Farkas...)
	}
	if old.Ray != nil {
		c.Farkas = []float64{}
	}
	c.setLines(lines, cones)
	switch old.Class {
	case Infeasible:
		c.Class = Unbounded
	case Unbounded:
		c.Class = Infeasible
	}
}

// Scaling multiplies the parts of a program by positive numbers. With factors r of
// the rows, c of the columns, o of the objective and t of the right-hand side,
//
//	A -> RAC, b -> t Rb, P -> o CPC, q -> o t Cq,
//
// and so x -> t x/c, s -> t Rs, z -> o t z/r, and the value -> o t^2 value. The factors of
// a cone that is no product of intervals are those of its first row.
type Scaling struct {
	Rows, Columns        []float64
	Objective, RightSide float64
}

// scaling draws one within 10^-k and 10^k by powers of 2: of the rows, columns, objective, right-hand side, or several
// of them.
func (d *draw) scaling(n, m int, k float64) Scaling {
	which := 1 + d.IntN(15)
	part := func(bit, n int) []float64 {
		if which&bit == 0 {
			return ones(n)
		}
		return fill(n, func() float64 { return d.magnitude(k) })
	}
	return Scaling{part(1, m), part(2, n), part(4, 1)[0], part(8, 1)[0]}
}

// Scale applies a scaling to the program and to what is known about it.
func (c *Case) Scale(s Scaling) {
	s.Rows = slices.Clone(s.Rows)
	c.each(func(k backends.Cone, from, to int) {
		for i := from; i < to; i++ {
			if !k.Kind.Intervals() {
				s.Rows[i] = s.Rows[from]
			} else if k.Kind == backends.BoxCone {
				k.Lower[i-from] *= s.Rows[i] * s.RightSide
				k.Upper[i-from] *= s.Rows[i] * s.RightSide
			}
		}
	})
	for i, row := range c.A {
		for j := range row {
			row[j] *= s.Rows[i] * s.Columns[j]
		}
	}
	for i, row := range c.P {
		for j := range row {
			row[j] *= s.Objective * s.Columns[i] * s.Columns[j]
		}
	}
	times := func(v []float64, k float64, factors []float64, power float64) []float64 {
		out := slices.Clone(v) // X and DualX may be one vector
		for i := range out {
			out[i] *= k * math.Pow(factors[i], power)
		}
		return out
	}
	t := s.RightSide
	c.Q, c.X = times(c.Q, s.Objective*t, s.Columns, 1), times(c.X, t, s.Columns, -1)
	c.DualX, c.Ray = times(c.DualX, t, s.Columns, -1), times(c.Ray, 1, s.Columns, -1)
	c.B, c.S = times(c.B, t, s.Rows, 1), times(c.S, t, s.Rows, 1)
	c.Z, c.Farkas = times(c.Z, s.Objective*t, s.Rows, -1), times(c.Farkas, 1, s.Rows, -1)
}
