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
func graph(a *expression, n int, g compile.Graph) *expression {
	return entries(a, &compile.Atom{Kind: compile.GraphAtom, N: n, Graph: &g})
}

// perEntry has the values of a function at entries, +Inf for what is no number.
func perEntry(value func(v float64) float64) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		for i, v := range x {
			if x[i] = value(v); math.IsNaN(x[i]) {
				x[i] = math.Inf(1)
			}
		}
		return x
	}
}

// entrywise is an atom with an entry for each of the argument, which puts one cone below each.
func entrywise(a *expression, name string, sign int, value func(v float64) float64, cone backends.Cone,
	rows func(a, u affine.Expr) []affine.Expr) *expression {
	return graph(a, a.Len(), compile.Graph{
		Name: name, Sign: sign, Value: perEntry(value),
		Below: func(b compile.Rows, a, u affine.Expr) {
			us := u.Entries()
			for k, a := range a.Entries() {
				b.In(cone, rows(a, us[k])...)
			}
		},
	})
}

var one = affine.Constant(1)

// Log returns log a[i], entry by entry, concave, for a[i] > 0.
func Log(a Operand) Expr {
	return Neg(entrywise(argument("Log", a, decreasing), "Log", 0, func(v float64) float64 { return -math.Log(v) },
		backends.Exponential(),
		func(a, u affine.Expr) []affine.Expr { return []affine.Expr{u.Neg(), one, a} })) // exp(-u) <= a
}

// Entropy returns -a[i] log a[i], entry by entry, concave, for a[i] >= 0.
func Entropy(a Operand) Expr {
	value := func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return v * math.Log(v)
	}
	return Neg(entrywise(argument("Entropy", a, neither), "Entropy", 0, value, backends.Exponential(),
		func(a, u affine.Expr) []affine.Expr { return []affine.Expr{u.Neg(), a, one} })) // a exp(-u/a) <= 1
}

// Power returns, entry by entry, |a[i]|^p for p > 1, a[i] for p = 1, the concave a[i]^p of a[i] >= 0 for p between 0
// and 1, and a[i]^p of a[i] > 0 for p < 0. Squares, roots and inverses, with p = 2, 1/2 and -1, take second-order
// cones.
func Power(a Operand, p float64) Expr {
	positive := func(v float64) float64 { // NaN counts as +Inf
		if v < 0 {
			return math.NaN()
		}
		return math.Pow(v, p)
	}
	switch {
	case p == 1:
		return operand("Power", a)
	case p > 1 && !math.IsInf(p, 1):
		cone, rows := backends.Power(1/p), func(a, u affine.Expr) []affine.Expr { // u^(1/p) >= |a|
			return []affine.Expr{u, one, a}
		}
		if p == 2 {
			cone, rows = backends.SecondOrder(3), hyperbola
		}
		return entrywise(argument("Power", a, byMagnitude), "Power", 1, func(v float64) float64 {
			return math.Pow(math.Abs(v), p)
		}, cone, rows)
	case p < 0 && !math.IsInf(p, -1):
		cone, rows := backends.Power(1/(1-p)), func(a, u affine.Expr) []affine.Expr { // u a^-p >= 1
			return []affine.Expr{u, a, one}
		}
		if p == -1 {
			cone, rows = backends.SecondOrder(3), func(a, u affine.Expr) []affine.Expr {
				return []affine.Expr{u.Plus(a), u.Minus(a), affine.Constant(2)} // u a >= 1
			}
		}
		return entrywise(argument("Power", a, decreasing), "Power", 1, positive, cone, rows)
	case p > 0 && p < 1:
		e := argument("Power", a, decreasing)
		return Neg(graph(e, e.Len(), compile.Graph{
			Name: "Power", Sign: -1, Value: perEntry(func(v float64) float64 { return -positive(v) }),
			Below: func(b compile.Rows, a, u affine.Expr) {
				w := b.New(a.N)
				b.Nonnegative(w.Plus(u))
				ws := w.Entries()
				for k, a := range a.Entries() { // a^p >= w >= -u
					if p == 0.5 {
						b.In(backends.SecondOrder(3), hyperbola(ws[k], a)...)
					} else {
						b.In(backends.Power(p), a, one, ws[k])
					}
				}
			},
		}))
	}
	e := operand("Power", a)
	return failed(e.rows, e.cols, e.m, "Power of %v with the exponent %v, expected a finite one other than 0", e, p)
}

// hyperbola are rows of a second-order cone with a^2 <= u.
func hyperbola(a, u affine.Expr) []affine.Expr {
	return []affine.Expr{u.Plus(one), u.Minus(one), a.Times(2)}
}

// RelativeEntropy returns the vector of a[i] log(a[i]/b[i]), for a[i] >= 0 and b[i] > 0. Kullback and Leibler's
// divergence is that less a[i] - b[i]. An operand of length 1 is broadcast.
func RelativeEntropy(a, b Operand) Expr {
	x, y := argument("RelativeEntropy", a, neither), argument("RelativeEntropy", b, decreasing)
	shape := x
	if x.Len() == 1 {
		shape = y
	}
	n := shape.Len()
	zero := newAffine(affine.Expr{N: n}, nil).like(shape)
	both := Stack(add("RelativeEntropy", zero, x).vectorized(), add("RelativeEntropy", zero, y).vectorized()).of()
	return graph(both, n, compile.Graph{
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
			as := a.Entries()
			for k, u := range u.Entries() {
				b.In(backends.Exponential(), u.Neg(), as[k], as[n+k]) // a exp(-u/a) <= b
			}
		},
	})
}

// QuadOverLin returns the scalar sum of a[i]^2 over b, a scalar b > 0.
func QuadOverLin(a, b Operand) Expr {
	x, under := argument("QuadOverLin", a, byMagnitude).vectorized(), argument("QuadOverLin", b, decreasing)
	both := Stack(x, under).of()
	n := x.Len()
	if both.err == nil && under.Len() != 1 {
		return failed(1, 1, both.m, "QuadOverLin of %v and %v, expected a scalar", x, under)
	}
	return graph(both, 1, compile.Graph{
		Name: "QuadOverLin", Sign: 1,
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

// QuadForm returns the scalar a'P a of a positive semidefinite matrix P, as the sum of squares of its root, or of a
// negative semidefinite one, concave. Eigenvalues of the other sign by rounding count as zero; a matrix with others is
// an error. Of P that is not symmetric its symmetric part counts.
func QuadForm(a, p Operand) Expr {
	m, err := matrix("QuadForm", p)
	e := operand("QuadForm", a)
	if err != nil || m == nil {
		return failed(1, 1, e.m, "QuadForm with %T, expected a matrix of numbers (%v)", p, err)
	}
	n, cols := m.Dims()
	if e.err == nil && (e.Len() != n || n != cols) {
		return failed(1, 1, e.m, "QuadForm of %v and a matrix of %d x %d", e, n, cols)
	}
	var eigen mat.EigenSym
	if e.err != nil || n == 0 || !eigen.Factorize(symmetricPart(operand("QuadForm", m).f().Aff.Constant(nil), n), true) {
		return failed(1, 1, e.m, "QuadForm of %v: the matrix is empty or not finite (%v)", e, e.err)
	}
	values := eigen.Values(nil)
	const rounding = 1e-10
	sign := 1.0
	if values[n-1] <= -rounding*values[0] {
		sign = -1
	} else if values[0] < -rounding*values[n-1] {
		return failed(1, 1, e.m, "QuadForm of %v: the matrix has the eigenvalues %.3g and %.3g, so that it is non-convex", e,
			values[0], values[n-1])
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	root := mat.NewDense(n, n, nil)
	for k, v := range values {
		for i := range n {
			root.Set(k, i, math.Sqrt(max(0, sign*v))*vectors.At(i, k))
		}
	}
	return Scale(sign, SumSquares(times(root, e.vectorized())))
}

// vectorized is the vector of all entries.
func (e *expression) vectorized() *expression { return e.shaped(e.Len(), 1) }

// Norm returns the scalar (sum |a[i]|^p)^(1/p), of p from 1 to +Inf, the p-norm, or, concave, of p below 1 and
// a[i] >= 0; with p = -1 that is the harmonic mean over the number of entries.
func Norm(a Operand, p float64) Expr {
	switch {
	case p == 1:
		return Norm1(a)
	case p == 2:
		return Norm2(a)
	case math.IsInf(p, 1):
		return NormInf(a)
	case p < 1 && p != 0 && !math.IsInf(p, -1):
		return Neg(concaveNorm(argument("Norm", a, decreasing), p))
	case !(p > 1):
		return failed(1, 1, operand("Norm", a).m, "Norm with p = %v, expected a number other than 0 and -Inf", p)
	}
	return graph(argument("Norm", a, byMagnitude), 1, compile.Graph{
		Name: "Norm", Sign: 1,
		Value: func(x []float64) []float64 { return []float64{floats.Norm(x, p)} },
		Below: func(b compile.Rows, a, u affine.Expr) {
			r := b.New(a.N)
			b.Nonnegative(u.Minus(r.Sum()))
			rs := r.Entries()
			for k, a := range a.Entries() {
				b.In(backends.Power(1/p), rs[k], u, a) // |a|^p <= r u^(p-1)
			}
		},
	})
}

// concaveNorm is minus (sum a[i]^p)^(1/p) of p < 1: w >= -u with sum r = w, and r >= a^p w^(1-p) for p below 0, or else
// at most that.
func concaveNorm(a *expression, p float64) *expression {
	return graph(a, 1, compile.Graph{
		Name: "Norm", Sign: -1,
		Value: func(x []float64) []float64 {
			sum := 0.0
			for _, v := range x {
				if v < 0 {
					return []float64{math.Inf(1)}
				}
				sum += math.Pow(v, p)
			}
			return []float64{-math.Pow(sum, 1/p)}
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			w, r := b.New(1), b.New(a.N)
			b.Nonnegative(w.Plus(u))
			if p > 0 {
				b.Nonnegative(r.Sum().Minus(w))
			} else {
				b.Nonnegative(w.Minus(r.Sum()))
			}
			rs := r.Entries()
			for k, a := range a.Entries() {
				if p > 0 {
					b.In(backends.Power(p), a, w, rs[k])
				} else {
					b.In(backends.Power(1/(1-p)), rs[k], a, w)
				}
			}
		},
	})
}

// GeoMean returns the scalar (a[0] a[1] ..)^(1/n) of n entries a[i] >= 0, concave.
func GeoMean(a Operand) Expr {
	e := argument("GeoMean", a, decreasing)
	n := e.Len()
	if e.err == nil && n < 2 {
		if n == 1 {
			return e
		}
		return failed(1, 1, e.m, "GeoMean of no entries")
	}
	return Neg(graph(e, 1, compile.Graph{
		Name: "GeoMean", Sign: -1,
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
	}))
}

// SumLargest returns the scalar sum of the k largest entries; of k that is no whole number, 0 < k <= n, the next one
// counts by the rest, as in the conditional value at risk, the sum of the largest of a share of all over their number.
func SumLargest(a Operand, k float64) Expr {
	e := argument("SumLargest", a, increasing)
	if e.err == nil && !(k > 0 && k <= float64(e.Len())) {
		return failed(1, 1, e.m, "SumLargest of %v entries of %v", k, e)
	}
	return graph(e, 1, compile.Graph{
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

// TotalVariation returns the scalar sum of |a[i+1] - a[i]|; of a matrix that is no vector the sum, over its entries, of
// the Euclidean norm of the differences to the next entries to the right and below, as far as there are any.
func TotalVariation(a Operand) Expr {
	e := operand("TotalVariation", a)
	if e.cols == 1 || e.rows == 1 {
		return Norm1(Diff(e.vectorized()))
	}
	var from, to []int
	var groups [][]int
	for i := range e.Len() {
		var group []int
		for _, next := range []struct {
			at int
			ok bool
		}{{i + 1, (i+1)%max(e.cols, 1) != 0}, {i + e.cols, i+e.cols < e.Len()}} {
			if next.ok {
				group = append(group, len(from))
				from, to = append(from, i), append(to, next.at)
			}
		}
		if group != nil {
			groups = append(groups, group)
		}
	}
	return Sum(GroupNorms(Sub(Pick(e, to), Pick(e, from)), groups))
}
