package dca

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/convex"
)

// Kinds returns the radii in groups that penalise alike: those whose constraints
// P_i(x) <= r_i are in one entry of [Level.Constraints], in the order of the first radius. A sparse
// group lasso has two kinds, the norms of the groups and the l1 norm.
func (p *Program) Kinds() ([][]int, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	rows, err := p.radiusRows()
	if err != nil {
		return nil, err
	}
	seen := make([]bool, p.Radii)
	var kinds [][]int
	for _, row := range rows {
		var kind []int
		for _, j := range row {
			if j >= 0 && !seen[j] {
				seen[j] = true
				kind = append(kind, j)
			}
		}
		if kind != nil {
			slices.Sort(kind)
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b []int) int { return a[0] - b[0] })
	return kinds, nil
}

// radiusRows finds the radius of each row of the constraints, -1 for rows without one.
func (p *Program) radiusRows() ([][]int, error) {
	rows, err := p.boundRows(p.Radii)
	if err != nil {
		return nil, p.errorf("%w, so that there is no penalty form", err)
	}
	return rows, nil
}

// boundRows finds for each row of the constraints the one of the first count hyperparameters that bounds it, -1 for
// rows without one. As such rows are P_i(x) - h_i, hyperparameters j + 1 and then (j + 1)^2 tell by how much a row
// falls.
func (p *Program) boundRows(count int) ([][]int, error) {
	m := convex.NewModel()
	h := m.Parameter("h", make([]float64, len(p.H0)))
	level, err := p.outline(m, h)
	if err != nil {
		return nil, err
	}
	var at [3][][]float64 // the rows with 0, j + 1 and (j + 1)^2 for hyperparameter j
	for k := range at {
		values := slices.Clone(p.H0)
		for j := range count {
			next := float64(j + 1)
			values[j] = [...]float64{0, next, next * next}[k]
		}
		for _, c := range level.Constraints {
			if err := c.Err(); err != nil {
				return nil, err
			}
			at[k] = append(at[k], c.Eval(convex.Point{h: values}))
		}
	}
	rows := make([][]int, len(level.Constraints))
	constrained := make([]bool, count)
	for c := range rows {
		rows[c] = make([]int, len(at[0][c]))
		for i, base := range at[0][c] {
			fall := base - at[1][c][i]
			square := base - at[2][c][i]
			j := int(math.Round(fall)) - 1
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(base)) }
			switch {
			case fall == 0 && square == 0:
				rows[c][i] = -1
			case j >= 0 && j < count && near(fall, float64(j+1)) && near(square, float64((j+1)*(j+1))):
				rows[c][i] = j
				constrained[j] = true
			default:
				return nil, fmt.Errorf("row %d of constraint %d is not P(x) - r_j for one radius r_j", i, c)
			}
		}
	}
	if j := slices.Index(constrained, false); j >= 0 {
		return nil, fmt.Errorf("radius %d is in no constraint P(x) - r_j", j)
	}
	return rows, nil
}

// raise raises entries of least to the P_i(x) at a point of a level with the hyperparameters h, nil for radii of 0.
func (l *Level) raise(least []float64, rows [][]int, pt convex.Point, h []float64) {
	for c, constraint := range l.Constraints {
		if len(rows[c]) == 0 || slices.Max(rows[c]) < 0 {
			continue
		}
		for i, v := range constraint.Eval(pt) {
			if j := rows[c][i]; j >= 0 {
				if h != nil {
					v += h[j]
				}
				least[j] = math.Max(least[j], v)
			}
		}
	}
}

// Penalties returns the P_i(x), the smallest radii that x keeps; for a radius of several constraints that is the
// largest of them. Upper are the upper variables, nil for those of H0.
func (p *Program) Penalties(x [][]float64, upper []float64) ([]float64, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	h := slices.Concat(make([]float64, p.Radii), p.H0[p.Radii:])
	copy(h[p.Radii:], upper)
	level, pt, err := p.valued(p.outline, h, x)
	if err != nil {
		return nil, err
	}
	rows, err := p.radiusRows()
	if err != nil {
		return nil, err
	}
	out := make([]float64, p.Radii)
	level.raise(out, rows, pt, nil)
	return out, nil
}

// ValidationAt is L(x, H0).
func (p *Program) ValidationAt(x [][]float64) (float64, error) {
	level, pt, err := p.valued(p.build, p.H0, x)
	if err != nil {
		return 0, err
	}
	if err := level.Validation.Err(); err != nil {
		return 0, p.errorf("%w", err)
	}
	return level.Validation.Eval(pt)[0], nil
}

// valued is a level at h, with its point of values x of its variables, as many as these have.
func (p *Program) valued(build func(*convex.Model, convex.Expr) (Level, error), h []float64,
	x [][]float64) (level Level, pt convex.Point, err error) {
	if err = p.validate(); err == nil {
		level, err = build(convex.NewModel(), convex.Const(h))
	}
	if err == nil && len(x) != len(level.X) {
		err = p.errorf("values of %d variables, expected %d", len(x), len(level.X))
	}
	if err != nil {
		return level, nil, err
	}
	for i, v := range level.X {
		if len(x[i]) != v.Len() {
			return level, nil, p.errorf("%d values of variable %s, expected %d", len(x[i]), v.Name(), v.Len())
		}
	}
	return level, point(level.X, x), nil
}
