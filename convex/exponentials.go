package convex

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Exp returns exp(a[i]), entry by entry. The backend needs exponential cones.
func Exp(a Operand) Expr {
	return entrywise(argument("Exp", a, increasing), "Exp", 1, math.Exp, backends.Exponential(),
		func(a, u affine.Expr) []affine.Expr { return []affine.Expr{a, one, u} })
}

// Logistic returns log(1 + exp(a[i])), entry by entry. The backend needs exponential cones.
func Logistic(a Operand) Expr {
	e := argument("Logistic", a, increasing)
	return graph(e, e.Len(), compile.Graph{
		Name: "Logistic", Sign: 1,
		Value: func(x []float64) []float64 {
			for i, v := range x {
				x[i] = max(v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
			}
			return x
		},
		Below: func(b compile.Rows, a, u affine.Expr) { // exp(a - u) <= y, exp(-u) <= z, y + z <= 1
			y, z := b.New(a.N), b.New(a.N)
			b.Nonnegative(one.Minus(y.Plus(z)))
			us, ys, zs := u.Entries(), y.Entries(), z.Entries()
			for k, a := range a.Entries() {
				b.In(backends.Exponential(), a.Minus(us[k]), one, ys[k])
				b.In(backends.Exponential(), us[k].Neg(), one, zs[k])
			}
		},
	})
}

// LogSumExp returns a vector with one entry for each group g of entries of a, log(sum of exp(a[i]) over i in g), or
// without groups the scalar of all entries. The index lists are kept by reference and must not change. The backend
// needs exponential cones.
func LogSumExp(a Operand, groups ...[]int) Expr {
	e := argument("LogSumExp", a, increasing)
	if groups == nil {
		groups = [][]int{affine.Consecutive(0, e.Len())}
	}
	if err := grouped("LogSumExp", e, groups, false); err != nil && e.err == nil {
		return broken(len(groups), 1, e.m, err)
	}
	chains := chained(groups)
	return graph(e, len(groups), compile.Graph{
		Name: "LogSumExp", Value: func(x []float64) []float64 { return logSums(x, chains) },
		Below: func(b compile.Rows, a, u affine.Expr) { belowLogSums(b, a.Entries(), u.Entries(), chains) },
	}).shaped(len(groups), 1)
}

// belowLogSums adds exp(a_i - u_k) <= y_i, sum_i y_i <= 1 over the terms i of each group k.
func belowLogSums(b compile.Rows, entries, us []affine.Expr, groups []chain) {
	for k, g := range groups {
		var a []affine.Expr
		if g.before >= 0 {
			a = append(a, us[g.before])
		}
		for _, i := range g.rest {
			a = append(a, entries[i])
		}
		y := b.New(len(a))
		b.Nonnegative(one.Minus(y.Sum()))
		for i, y := range y.Entries() {
			b.In(backends.Exponential(), a[i].Minus(us[k]), one, y)
		}
	}
}

// logSums are the logarithms of the sums of exponentials over groups.
func logSums(x []float64, groups []chain) []float64 {
	out := make([]float64, len(groups))
	var terms []float64
	for k, g := range groups {
		if terms = terms[:0]; g.before >= 0 {
			terms = append(terms, out[g.before])
		}
		for _, i := range g.rest {
			terms = append(terms, x[i])
		}
		out[k] = floats.LogSumExp(terms)
	}
	return out
}

// chain is a group as one before it, or -1, whose logarithm of the sum takes the place of its entries, and the rest.
type chain struct {
	before int
	rest   []int
}

// chained finds groups that begin with all of another, as the rows at risk at one time begin with those at the times
// after.
func chained(groups [][]int) []chain {
	out := make([]chain, len(groups))
	var open []int // those that the last group begins with, and itself
	for k, g := range groups {
		for len(open) > 0 && !begins(g, groups[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		if out[k] = (chain{-1, g}); len(open) > 0 {
			before := open[len(open)-1]
			out[k] = chain{before, g[len(groups[before]):]}
		}
		open = append(open, k)
	}
	return out
}

// begins says whether a list is longer than another, of two entries at least, and begins with it.
func begins(list, with []int) bool {
	return len(with) > 1 && len(list) > len(with) && (&list[0] == &with[0] || slices.Equal(list[:len(with)], with))
}
