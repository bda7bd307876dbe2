package planted

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

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

func (d *draw) permuteColumns(c *Case) bool {
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
	return true
}

func (d *draw) permuteCones(c *Case) bool {
	list := c.lines()
	var parts [][]line
	c.each(func(_ backends.Cone, from, to int) { parts = append(parts, list[from:to]) })
	var lines []line
	var cones []backends.Cone
	for _, k := range d.Perm(len(parts)) {
		lines, cones = append(lines, parts[k]...), append(cones, c.Cones[k])
	}
	c.setLines(lines, cones)
	return len(cones) > 1
}

// permuteRows permutes within cones where that leaves the cone what it is.
func (d *draw) permuteRows(c *Case) bool {
	list := c.lines()
	c.each(func(k backends.Cone, from, to int) {
		switch k.Kind {
		case backends.BoxCone:
			d.Shuffle(k.Dim, func(i, j int) {
				list[from+i], list[from+j] = list[from+j], list[from+i]
				k.Lower[i], k.Lower[j] = k.Lower[j], k.Lower[i]
				k.Upper[i], k.Upper[j] = k.Upper[j], k.Upper[i]
			})
		case backends.ZeroCone, backends.NonnegativeCone:
			d.Shuffle(k.Dim, func(i, j int) { list[from+i], list[from+j] = list[from+j], list[from+i] })
		case backends.SecondOrderCone:
			d.Shuffle(k.Dim-1, func(i, j int) { list[from+1+i], list[from+1+j] = list[from+1+j], list[from+1+i] })
		case backends.PowerCone, backends.DualPowerCone:
			if k.Alpha == 0.5 {
				list[from], list[from+1] = list[from+1], list[from]
			}
		case backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone:
			z := list[from+len(k.Weights) : from+k.Dim]
			d.Shuffle(len(z), func(i, j int) { z[i], z[j] = z[j], z[i] })
		}
	})
	c.setLines(list, c.Cones)
	return true
}

func positive(v float64) float64 { return max(0, v) }

// splitEquations writes s = 0 as s >= 0 and -s >= 0.
func (d *draw) splitEquations(c *Case) bool {
	return c.replace(func(k backends.Cone) bool { return k.Kind == backends.ZeroCone && d.chance(2) },
		func(l line, _ backends.Cone, _ int) ([]line, []backends.Cone) {
			return []line{
				{l.a, l.b, l.s, positive(l.z), positive(l.farkas)},
				{l.times(-1).a, -l.b, -l.s, positive(-l.z), positive(-l.farkas)},
			}, []backends.Cone{backends.Nonnegative(2)}
		})
}

// splitBoxes writes l <= s as s - l >= 0, and s <= u as u - s >= 0.
func (c *Case) splitBoxes() bool {
	return c.replace(func(k backends.Cone) bool { return k.Kind == backends.BoxCone },
		func(l line, k backends.Cone, i int) (out []line, cones []backends.Cone) {
			if low := k.Lower[i]; !math.IsInf(low, -1) {
				out = append(out, line{l.a, l.b - low, l.s - low, positive(l.z), positive(l.farkas)})
			}
			if high := k.Upper[i]; !math.IsInf(high, 1) {
				out = append(out, line{l.times(-1).a, high - l.b, high - l.s, positive(-l.z), positive(-l.farkas)})
			}
			if len(out) == 0 {
				return nil, nil
			}
			return out, []backends.Cone{backends.Nonnegative(len(out))}
		})
}

// boxed writes s >= 0 and s = 0 as boxes.
func (d *draw) boxed(c *Case) bool {
	return c.replace(func(k backends.Cone) bool {
		return (k.Kind == backends.NonnegativeCone || k.Kind == backends.ZeroCone) && d.chance(2)
	}, func(l line, k backends.Cone, _ int) ([]line, []backends.Cone) {
		upper := 0.0
		if k.Kind == backends.NonnegativeCone {
			upper = math.Inf(1)
		}
		return []line{l}, []backends.Cone{backends.Box([]float64{0}, []float64{upper})}
	})
}

// replace takes rows of the cones for which which holds for others, one by one.
func (c *Case) replace(which func(backends.Cone) bool, by func(l line, k backends.Cone, i int) ([]line,
	[]backends.Cone)) bool {
	list := c.lines()
	var lines []line
	var cones []backends.Cone
	changed := false
	c.each(func(k backends.Cone, from, to int) {
		if !which(k) {
			lines, cones = append(lines, list[from:to]...), append(cones, k)
			return
		}
		changed = true
		for i, l := range list[from:to] {
			newLines, newCones := by(l, k, i)
			lines, cones = append(lines, newLines...), append(cones, newCones...)
		}
	})
	c.setLines(lines, cones)
	return changed
}

// arrow writes |v| <= t as [t v'; v tI] semidefinite. The multiplier (t, w) becomes
// [t/2 w'/2; w/2 ww'/(2t)], with what is left of t on the diagonal. As entries are
// multiplied by sqrt 2, exact certificates and rays are left alone.
func (d *draw) arrow(c *Case) bool {
	if c.Farkas != nil || c.Ray != nil {
		return false
	}
	list := c.lines()
	var lines []line
	var cones []backends.Cone
	changed := false
	c.each(func(k backends.Cone, from, to int) {
		part := list[from:to]
		if k.Kind != backends.SecondOrderCone || k.Dim < 2 {
			lines, cones = append(lines, part...), append(cones, k)
			return
		}
		changed = true
		cones = append(cones, backends.PSD(k.Dim))
		t := part[0].z
		rest, share := t/2, 0.0 // of the multiplier's diagonal
		if t > 0 {
			share = 1 / (2 * t)
		}
		for _, l := range part[1:] {
			rest -= l.z * l.z * share
		}
		for j := range k.Dim {
			for i := j; i < k.Dim; i++ {
				var l line
				switch {
				case i == j && i == 0:
					l = part[0]
					l.z = t / 2
				case i == j:
					l = part[0]
					l.z = part[i].z * part[i].z * share
					if i == 1 {
						l.z += positive(rest)
					}
				case j == 0:
					l = part[i].times(math.Sqrt2)
					l.z = part[i].z / math.Sqrt2
				default:
					l = part[0].times(0)
					l.z = math.Sqrt2 * part[i].z * part[j].z * share
				}
				lines = append(lines, l)
			}
		}
	})
	c.setLines(lines, cones)
	return changed
}

// times multiplies the row, not its multiplier.
func (l line) times(k float64) line {
	a := slices.Clone(l.a)
	scaleBy(a, k)
	return line{a, k * l.b, k * l.s, l.z, l.farkas}
}
