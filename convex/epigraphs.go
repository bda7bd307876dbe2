package convex

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Atoms by their epigraphs in cones (Boyd, Vandenberghe, Convex Optimization, 2004, chapters 3 and 4; Ben-Tal,
// Nemirovski, Lectures on Modern Convex Optimization, 2001). Those of functions that are concave are of their negative.

// graph is an atom of n entries of an argument.
func graph(a Affine, n int, g compile.Graph) Convex {
	return entries(a, &compile.Atom{Kind: compile.GraphAtom, N: n, Graph: &g})
}

// entrywise is an atom with an entry for each of the argument, which puts one cone below each.
func entrywise(a Affine, name string, value func(v float64) float64, cone backends.Cone,
	rows func(a, u affine.Expr) []affine.Expr) Convex {
	return graph(a, a.e.N, compile.Graph{
		Name: name,
		Value: func(x []float64) []float64 {
			for i, v := range x {
				if x[i] = value(v); math.IsNaN(x[i]) {
					x[i] = math.Inf(1)
				}
			}
			return x
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			for k := range a.N {
				b.In(cone, rows(a.At(k), u.At(k))...)
			}
		},
	})
}

var one = affine.Constant(1)

// NegLog returns the vector of -log a[i], for a[i] > 0.
func NegLog(a Affine) Convex {
	return entrywise(a, "NegLog", func(v float64) float64 { return -math.Log(v) }, backends.Exponential(),
		func(a, u affine.Expr) []affine.Expr { return []affine.Expr{u.Neg(), one, a} }) // exp(-u) <= a
}

// NegEntropy returns the vector of a[i] log a[i], for a[i] >= 0.
func NegEntropy(a Affine) Convex {
	value := func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return v * math.Log(v)
	}
	return entrywise(a, "NegEntropy", value, backends.Exponential(),
		func(a, u affine.Expr) []affine.Expr { return []affine.Expr{u.Neg(), a, one} }) // a exp(-u/a) <= 1
}

// Inverse returns the vector of 1/a[i], for a[i] > 0.
func Inverse(a Affine) Convex {
	value := func(v float64) float64 {
		if v < 0 {
			return math.Inf(1)
		}
		return 1 / v
	}
	return entrywise(a, "Inverse", value, backends.SecondOrder(3), func(a, u affine.Expr) []affine.Expr {
		return []affine.Expr{u.Plus(a), u.Minus(a), affine.Constant(2)} // u a >= 1
	})
}

// Power returns the vector of |a[i]|^p for p > 1, and of a[i]^p for p < 0 and a[i] > 0. [NegPower] has p from 0 to 1,
// [Abs] is p = 1.
func Power(a Affine, p float64) Convex {
	switch {
	case p > 1 && !math.IsInf(p, 1):
		return entrywise(a, "Power", func(v float64) float64 { return math.Pow(math.Abs(v), p) }, backends.Power(1/p),
			func(a, u affine.Expr) []affine.Expr { return []affine.Expr{u, one, a} }) // u^(1/p) >= |a|
	case p < 0 && !math.IsInf(p, -1):
		value := func(v float64) float64 {
			if v < 0 {
				return math.Inf(1)
			}
			return math.Pow(v, p)
		}
		return entrywise(a, "Power", value, backends.Power(1/(1-p)),
			func(a, u affine.Expr) []affine.Expr { return []affine.Expr{u, a, one} }) // u a^-p >= 1
	}
	return failed(a.e.N, a.m, "Power of %v with the exponent %v, expected one above 1 or below 0", a, p)
}

// NegPower returns the vector of -a[i]^p, for 0 < p < 1 and a[i] >= 0: with 1/2 the negative square root.
func NegPower(a Affine, p float64) Convex {
	if !(p > 0 && p < 1) {
		return failed(a.e.N, a.m, "NegPower of %v with the exponent %v, expected one from 0 to 1", a, p)
	}
	return graph(a, a.e.N, compile.Graph{
		Name: "NegPower",
		Value: func(x []float64) []float64 {
			for i, v := range x {
				if x[i] = math.Inf(1); v >= 0 {
					x[i] = -math.Pow(v, p)
				}
			}
			return x
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			w := b.New(a.N)
			b.Nonnegative(w.Plus(u))
			for k := range a.N {
				b.In(backends.Power(p), a.At(k), one, w.At(k)) // a^p >= w >= -u
			}
		},
	})
}

// RelativeEntropy returns the vector of a[i] log(a[i]/b[i]), for a[i] >= 0 and b[i] > 0. Kullback and Leibler's
// divergence is that less a[i] - b[i]. An operand of length 1 is broadcast.
func RelativeEntropy(a, b Affine) Convex {
	n := max(a.e.N, b.e.N)
	zero := Affine{e: affine.Expr{N: n}}
	return graph(Stack(zero.Plus(a), zero.Plus(b)), n, compile.Graph{
		Name: "RelativeEntropy",
		Value: func(x []float64) []float64 {
			out := make([]float64, n)
			for i := range out {
				switch v, w := x[i], x[n+i]; {
				case v < 0 || w < 0 || w == 0 && v > 0:
					out[i] = math.Inf(1)
				case v > 0:
					out[i] = v * math.Log(v/w)
				}
			}
			return out
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			for k := range n {
				b.In(backends.Exponential(), u.At(k).Neg(), a.At(k), a.At(n+k)) // a exp(-u/a) <= b
			}
		},
	})
}

// QuadOverLin returns the scalar sum of a[i]^2 over b, a scalar b > 0.
func QuadOverLin(a, b Affine) Convex {
	both := Stack(a, b)
	if both.err == nil && b.e.N != 1 {
		return failed(1, both.m, "QuadOverLin of %v and %v, expected a scalar", a, b)
	}
	n := a.e.N
	return graph(both, 1, compile.Graph{
		Name: "QuadOverLin",
		Value: func(x []float64) []float64 {
			sum, under := floats.Dot(x[:n], x[:n]), x[n]
			switch {
			case under < 0 || under == 0 && sum > 0:
				return []float64{math.Inf(1)}
			case under == 0:
				return []float64{0}
			}
			return []float64{sum / under}
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			y := a.At(n)
			b.In(backends.SecondOrder(2+n), u.Plus(y), u.Minus(y), a.Slice(0, n).Times(2)) // |a|^2 <= u y
		},
	})
}

// QuadForm returns the scalar a'P a of a positive semidefinite matrix P, as the sum of squares of its root. Eigenvalues
// below zero by rounding count as zero; a matrix with others is an error. It panics if P is nil.
func QuadForm(a Affine, p mat.Symmetric) Convex {
	mustMatrix("QuadForm", p)
	n := p.SymmetricDim()
	if a.err == nil && a.e.N != n {
		return failed(1, a.m, "QuadForm of %v and a matrix of order %d", a, n)
	}
	var eigen mat.EigenSym
	if n == 0 || !eigen.Factorize(p, true) {
		return failed(1, a.m, "QuadForm of %v: the matrix is empty or not finite", a)
	}
	values := eigen.Values(nil)
	const rounding = 1e-10
	if values[0] < -rounding*math.Abs(values[n-1]) {
		return failed(1, a.m, "QuadForm of %v: the matrix has the eigenvalue %.3g, so that it is non-convex", a, values[0])
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	root := mat.NewDense(n, n, nil)
	for k, v := range values {
		for i := range n {
			root.Set(k, i, math.Sqrt(max(0, v))*vectors.At(i, k))
		}
	}
	return SumSquares(a.MulMat(root))
}

// Norm returns the scalar p-norm, (sum |a[i]|^p)^(1/p), of p from 1 to +Inf.
func Norm(a Affine, p float64) Convex {
	switch {
	case p == 1:
		return Norm1(a)
	case p == 2:
		return Norm2(a)
	case math.IsInf(p, 1):
		return NormInf(a)
	case !(p > 1):
		return failed(1, a.m, "Norm of %v with p = %v, expected 1 or more", a, p)
	}
	return graph(a, 1, compile.Graph{
		Name:  "Norm",
		Value: func(x []float64) []float64 { return []float64{floats.Norm(x, p)} },
		Below: func(b compile.Rows, a, u affine.Expr) {
			r := b.New(a.N)
			b.Nonnegative(u.Minus(r.Sum()))
			for k := range a.N {
				b.In(backends.Power(1/p), r.At(k), u, a.At(k)) // |a|^p <= r u^(p-1)
			}
		},
	})
}

// NegGeoMean returns the scalar -(a[0] a[1] ..)^(1/n) of n entries a[i] >= 0.
func NegGeoMean(a Affine) Convex {
	n := a.e.N
	if a.err == nil && n < 2 {
		if n == 1 {
			return Linear(a.Neg())
		}
		return failed(1, a.m, "NegGeoMean of no entries")
	}
	return graph(a, 1, compile.Graph{
		Name: "NegGeoMean",
		Value: func(x []float64) []float64 {
			sum := 0.0
			for _, v := range x {
				if v < 0 {
					return []float64{math.Inf(1)}
				}
				sum += math.Log(v)
			}
			return []float64{-math.Exp(sum / float64(n))}
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			w := b.New(1)
			b.Nonnegative(w.Plus(u))
			b.In(backends.GeneralizedPower(slices.Repeat([]float64{1 / float64(n)}, n), 1), a, w)
		},
	})
}

// SumLargest returns the scalar sum of the k largest entries; of k that is no whole number, 0 < k <= n, the next one
// counts by the rest, as in the conditional value at risk, the sum of the largest of a share of all over their number.
func SumLargest(a Affine, k float64) Convex {
	if a.err == nil && !(k > 0 && k <= float64(a.e.N)) {
		return failed(1, a.m, "SumLargest of %v entries of %v", k, a)
	}
	return graph(a, 1, compile.Graph{
		Name: "SumLargest",
		Value: func(x []float64) []float64 {
			slices.Sort(x)
			sum, left := 0.0, k
			for _, v := range slices.Backward(x) {
				part := min(1, left)
				sum, left = sum+part*v, left-part
			}
			return []float64{sum}
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			q, r := b.New(1), b.New(a.N) // the least of k q + sum max(0, a - q) over q
			b.Nonnegative(r)
			b.Nonnegative(r.Minus(a).Plus(q))
			b.Nonnegative(u.Minus(r.Sum()).Minus(q.Times(k)))
		},
	})
}

// TotalVariation returns the scalar sum of |a[i+1] - a[i]|.
func TotalVariation(a Affine) Convex {
	if n := a.e.N; n > 1 {
		return Norm1(a.Slice(1, n).Minus(a.Slice(0, n-1)))
	}
	return Linear(a.Dot(make([]float64, a.e.N)))
}

// TotalVariation2D returns the scalar sum, over the entries of a matrix of rows x cols, whose rows a has one after the
// other, of the Euclidean norm of the differences to the next entries to the right and below, as far as there are any.
func TotalVariation2D(a Affine, rows, cols int) Convex {
	if a.err == nil && (rows < 0 || cols < 0 || rows*cols != a.e.N) {
		return failed(1, a.m, "TotalVariation2D: %v is not a matrix of %d x %d", a, rows, cols)
	}
	var from, to []int
	var groups [][]int
	for i := range a.e.N {
		var group []int
		for _, next := range []struct {
			at int
			ok bool
		}{{i + 1, (i+1)%max(cols, 1) != 0}, {i + cols, i+cols < a.e.N}} {
			if next.ok {
				group = append(group, len(from))
				from, to = append(from, i), append(to, next.at)
			}
		}
		if group != nil {
			groups = append(groups, group)
		}
	}
	return GroupNorms(a.Pick(to).Minus(a.Pick(from)), groups).Sum()
}
