package completion

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// triplets are singular vectors u_i, v_i of T on the complement of the singular vectors of G, and their values.
type triplets struct {
	u, v   [][]float64
	values []float64
}

const (
	// lanczosMost bounds the steps, lanczosFirst is when the values are looked at for the first time, and again after lanczosGrowth times as many.
	lanczosMost, lanczosFirst, lanczosGrowth = 400, 12, 1.4
	// lanczosLog is -log of the probability that a bound by the number of steps alone does not hold.
	lanczosLog = 30
	// lanczosShare is how many steps a value above the threshold takes.
	lanczosShare = 3
	// growth of the largest singular value above the threshold, relative, is that of a missing column.
	growth = 1e-10
)

// apply sets to to T x or, transposed, T'x, for T = R(w r) - rho (G - C).
func (f *factored) apply(to, x []float64, transposed bool) {
	clear(to)
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		of, r := f.side(s), f.r[s]
		if transposed {
			for e, i := range of.row {
				to[of.col[e]] += w * r[e] * x[i]
			}
			continue
		}
		for e, i := range of.row {
			to[i] += w * r[e] * x[of.col[e]]
		}
	}
	if f.rho == 0 {
		return
	}
	low := func(c float64, a, b []float64, k int) {
		if transposed {
			a, b = b, a
		}
		addProduct(to, c, a, k, gram(b, k, x, 1), 1)
	}
	low(-f.rho, f.a, f.b, f.k)
	low(f.rho, f.ca, f.cb, f.kc)
}

// lanczos bounds the largest singular value of (I - QQ') T (I - PP'), and returns the vectors that it knows of with values above the threshold. It ends as soon as
// the bound is below the threshold, or the largest value is known to a hundredth of its distance from it; threshold 0 asks for the
// largest value to rounding. With a random start and k steps, theta^2 / (1 - e) bounds the square of the largest value but with probability
// 1.648 n^(1/2) exp(-e^(1/2) (2 k - 1)) (Kuczynski and Wozniakowski, SIAM J. Matrix Anal. Appl. 13, 1992); where the largest Ritz value has converged, it and
// its residual are the bound.
func (f *factored) lanczos(threshold float64, vectors ...*mat.Dense) (bound float64, found triplets) {
	m, n := f.j.m, f.j.n
	project := func(side int, v []float64, basis [][]float64) {
		for range 2 { // twice is enough
			if len(vectors) > 0 {
				q := vectors[side].RawMatrix()
				addProduct(v, -1, q.Data, q.Cols, gram(q.Data, q.Cols, v, 1), 1)
			}
			for _, b := range basis {
				floats.AddScaled(v, -floats.Dot(b, v), b)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	start := make([]float64, n)
	for i := range start {
		start[i] = rng.NormFloat64()
	}
	project(1, start, nil)
	var us, vs [][]float64
	var alphas, betas []float64 // T v_j = alpha_j u_j + beta_j-1 u_j-1, T'u_j = alpha_j v_j + beta_j v_j+1
	size := floats.Norm(start, 2)
	if size == 0 || m == 0 {
		return 0, found
	}
	floats.Scale(1/size, start)
	v, least, look := start, 0.0, lanczosFirst
	known := 0
	if len(vectors) > 0 {
		known = vectors[0].RawMatrix().Cols
	}
	top := min(m-known+1, n-known, lanczosMost)
	for step := 1; step <= top; step++ {
		u := make([]float64, m)
		f.apply(u, v, false)
		project(0, u, us)
		alpha := floats.Norm(u, 2)
		least = math.Max(least, 1e-13*alpha)
		vs, alphas = append(vs, v), append(alphas, alpha)
		beta := 0.0
		next := make([]float64, n)
		if alpha > least {
			floats.Scale(1/alpha, u)
			us = append(us, u)
			f.apply(next, u, true)
			project(1, next, vs)
			beta = floats.Norm(next, 2)
		} else {
			us = append(us, make([]float64, m))
		}
		betas = append(betas, beta)
		over := beta <= least || step == top
		if !over && step < look && !f.end.Reached(2*(m+n)*step) {
			floats.Scale(1/beta, next)
			v = next
			continue
		}
		look = int(lanczosGrowth*float64(step)) + 1
		b := mat.NewDense(step, step, nil)
		for i, a := range alphas {
			b.Set(i, i, a)
			if i+1 < step {
				b.Set(i, i+1, betas[i])
			}
		}
		var svd mat.SVD
		if !svd.Factorize(b, mat.SVDThin) {
			return math.Inf(1), found
		}
		values := svd.Values(nil)
		var p, q mat.Dense
		svd.UTo(&p)
		residual := beta * math.Abs(p.At(step-1, 0))
		if beta <= least {
			residual = 0
		}
		share := math.Pow((lanczosLog+math.Log(1.648*math.Sqrt(float64(n))))/float64(2*step-1), 2)
		safe := math.Inf(1)
		if share < 1 {
			safe = values[0] / math.Sqrt(1-share)
		}
		bound = math.Max(values[0]+residual, 0)
		if !over && f.end.Look() {
			over = true
		}
		switch {
		case over:
		case threshold > 0 && safe <= threshold:
			return safe, found
		case threshold > 0 && values[0] <= threshold && residual <= 0.01*(threshold-values[0]):
		case threshold > 0 && values[0] > threshold && residual <= 0.01*(values[0]-threshold) && complete(values, threshold):
		case residual <= 1e-12*values[0]:
		default:
			floats.Scale(1/beta, next)
			v = next
			continue
		}
		svd.VTo(&q)
		for l, x := range values {
			if !(x > threshold*(1+growth)) {
				break
			}
			left, right := make([]float64, m), make([]float64, n)
			for i := range step {
				floats.AddScaled(left, p.At(i, l), us[i])
				floats.AddScaled(right, q.At(i, l), vs[i])
			}
			found.u, found.v, found.values = append(found.u, left), append(found.v, right), append(found.values, x)
		}
		return bound, found
	}
	return 0, found
}

// spectral bounds the norm of T by those of its blocks, with singular vectors of G, nil for none; rest is that of the last block.
func (f *factored) spectral(vectors [2]*mat.Dense) (bound, rest float64, found triplets) {
	if vectors[0] == nil {
		rest, found = f.lanczos(f.nuclear)
		return rest, rest, found
	}
	rest, found = f.lanczos(f.nuclear, vectors[0], vectors[1])
	m, n := f.j.m, f.j.n
	_, k := vectors[0].Dims()
	q, p := vectors[0].RawMatrix().Data, vectors[1].RawMatrix().Data
	tp, tq := make([]float64, m*k), make([]float64, n*k)
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		of, r := f.side(s), f.r[s]
		for e, i := range of.row {
			c := of.col[e]
			addScaled(tp[i*k:(i+1)*k], w*r[e], p[c*k:(c+1)*k])
			addScaled(tq[c*k:(c+1)*k], w*r[e], q[i*k:(i+1)*k])
		}
	}
	if f.rho > 0 {
		addProduct(tp, -f.rho, f.a, f.k, gram(f.b, f.k, p, k), k)
		addProduct(tp, f.rho, f.ca, f.kc, gram(f.cb, f.kc, p, k), k)
		addProduct(tq, -f.rho, f.b, f.k, gram(f.a, f.k, q, k), k)
		addProduct(tq, f.rho, f.cb, f.kc, gram(f.ca, f.kc, q, k), k)
	}
	core := gram(q, k, tp, k)
	addProduct(tp, -1, q, k, core, k)
	turned := make([]float64, k*k)
	for i := range k {
		for l := range k {
			turned[i*k+l] = core[l*k+i]
		}
	}
	addProduct(tq, -1, p, k, turned, k)
	norm2 := func(r, c int, a []float64) float64 {
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(r, c, a), mat.SVDNone) {
			return math.Inf(1)
		}
		return svd.Values(nil)[0]
	}
	a, b, c := norm2(k, k, core), floats.Norm(tp, 2), floats.Norm(tq, 2)
	if f.over() {
		return math.Inf(1), rest, found
	}
	return norm2(2, 2, []float64{a, b, c, rest}), rest, found
}

// over says that the context has ended.
func (f *factored) over() bool { return f.end.Look() }

// complete says whether most of the values above the threshold are known: they are a small part of the steps.
func complete(values []float64, threshold float64) bool {
	above := 0
	for above < len(values) && values[above] > threshold {
		above++
	}
	return lanczosShare*above <= len(values)
}
