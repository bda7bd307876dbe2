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
	return graph(e, len(groups), compile.Graph{
		Name: "LogSumExp", Value: func(x []float64) []float64 { return logSums(x, groups) },
		Below: func(b compile.Rows, a, u affine.Expr) { belowLogSums(b, a.Entries(), u.Entries(), groups) },
	}).shaped(len(groups), 1)
}

// belowLogSums adds exp(a_i - u_k) <= y_i, sum_i y_i <= 1 over the entries i of each group k. In one that begins with
// all of a group before, as the rows at risk at one time begin with those at the times after, that one's u takes the
// place of its entries.
func belowLogSums(b compile.Rows, entries, us []affine.Expr, groups [][]int) {
	var open []int // those that the last group begins with, and itself
	for k, g := range groups {
		for len(open) > 0 && !begins(g, groups[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		var a []affine.Expr
		if len(open) > 0 {
			before := open[len(open)-1]
			a, g = append(a, us[before]), g[len(groups[before]):]
		}
		open = append(open, k)
		for _, i := range g {
			a = append(a, entries[i])
		}
		y := b.New(len(a))
		b.Nonnegative(one.Minus(y.Sum()))
		for i, y := range y.Entries() {
			b.In(backends.Exponential(), a[i].Minus(us[k]), one, y)
		}
	}
}

// begins says whether a list is longer than another, of two entries at least, and begins with it.
func begins(list, with []int) bool {
	return len(with) > 1 && len(list) > len(with) && (&list[0] == &with[0] || slices.Equal(list[:len(with)], with))
}

// logSums are the logarithms of the sums of exponentials over groups. A list that is the beginning of a longer one
// later is summed once.
func logSums(x []float64, groups [][]int) []float64 {
	out := make([]float64, len(groups))
	var last []int
	top, sum := 0.0, 0.0 // the last sum is exp(top) sum
	for k, g := range groups {
		if len(last) == 0 || len(g) <= len(last) || &g[0] != &last[0] {
			part := make([]float64, len(g))
			for l, i := range g {
				part[l] = x[i]
			}
			out[k] = floats.LogSumExp(part)
			if len(last) == 0 || k+1 < len(groups) && len(groups[k+1]) > len(g) && &groups[k+1][0] == &g[0] {
				last, top, sum = g, out[k], 1
			}
			continue
		}
		for _, i := range g[len(last):] {
			if x[i] > top {
				top, sum = x[i], sum*math.Exp(top-x[i])+1
			} else {
				sum += math.Exp(x[i] - top)
			}
		}
		last, out[k] = g, top+math.Log(sum)
	}
	return out
}
