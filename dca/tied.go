package dca

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
)

// Block is the program whose lower level is block t alone.
func (p Program) Block(t int) Program {
	p.Blocks, p.Build, p.Outline, p.Fit = p.builders()[t:t+1], nil, nil, nil
	return p
}

// Tied is the program with a radius s_k for each row k of factors in the place of the radii r_i: block t of the lower
// level has
//
//	sum_i factors[t][k][i] P_i(x) <= s_k   in the place of   P_i(x) <= r_i,
//
// so that weights w of the penalty form are weights lambda_i = sum_k w_k factors[t][k][i] of the P_i. No factor is
// negative, and each P_i and each row has one that is positive. It is for programs whose hyperparameters are radii, all
// of them in each block. The s_k start at the least r_i times the least positive factor of the row, and weights of the
// path are the largest over the least factor, of the first block; bounds and the fit are left out.
func (p Program) Tied(factors [][][]float64) (Program, error) {
	p = p.Started()
	if err := p.validate(); err != nil {
		return p, err
	}
	builders := p.builders()
	switch {
	case p.Radii < len(p.H0):
		return p, p.errorf("Tied is for radii alone, but of %d hyperparameters %d are some", len(p.H0), p.Radii)
	case p.Joint != nil:
		return p, p.errorf("Tied is for programs without Joint")
	case len(factors) != len(builders):
		return p, p.errorf("factors of %d blocks, expected %d", len(factors), len(builders))
	}
	out := Program{Name: p.Name, Radii: len(factors[0]), PathRise: p.PathRise}
	for t, build := range builders {
		one := p.Block(t)
		rows, err := one.radiusRows()
		if err == nil {
			err = p.checkFactors(t, factors[t], out.Radii)
		}
		if err != nil {
			return p, err
		}
		out.Blocks = append(out.Blocks, func(m *convex.Model, s convex.Expr) Level {
			level := build(m, convex.Const(make([]float64, p.Radii)))
			level.Constraints = tie(level.Constraints, rows, factors[t], s)
			return level
		})
	}
	least := make([]float64, out.Radii) // positive factor of each row
	for k, f := range factors[0] {
		least[k] = slices.Min(slices.DeleteFunc(slices.Clone(f), func(v float64) bool { return v == 0 }))
		out.H0 = append(out.H0, slices.Min(p.H0)*least[k])
	}
	for _, lambda := range p.Path {
		out.Path = append(out.Path, []float64{slices.Max(lambda) / slices.Min(least)})
	}
	return out, nil
}

// checkFactors checks those of block t.
func (p *Program) checkFactors(t int, rows [][]float64, sums int) error {
	if len(rows) != sums || sums == 0 {
		return p.errorf("block %d has %d rows of factors, expected at least one, and as many in each block", t, len(rows))
	}
	total := make([]float64, p.Radii)
	for k, f := range rows {
		if sum := floats.Sum(f); len(f) != p.Radii || slices.Min(f) < 0 || !(sum > 0) || math.IsInf(sum, 1) {
			return p.errorf("block %d has factors %v in row %d, expected one for each of %d radii, not negative, finite, "+
				"and not all 0", t, f, k, p.Radii)
		}
		floats.Add(total, f)
	}
	if i := slices.Index(total, 0); i >= 0 {
		return p.errorf("radius %d has no positive factor in block %d", i, t)
	}
	return nil
}

// tie are the constraints of a block built with radii of 0, where factors tie the rows that have one.
func tie(constraints []convex.Expr, rows [][]int, factors [][]float64, s convex.Expr) (list []convex.Expr) {
	sums := make([]convex.Expr, len(factors))
	for k := range sums {
		sums[k] = convex.Neg(convex.At(s, k))
	}
	for c, constraint := range constraints {
		for _, part := range separate(constraint, rows[c]) {
			if part.radius < 0 {
				list = append(list, part.of)
				continue
			}
			for k, f := range factors {
				if v := f[part.radius]; v > 0 {
					sums[k] = convex.Add(sums[k], convex.Dot([]float64{v}, part.of))
				}
			}
		}
	}
	return append(list, sums...)
}
