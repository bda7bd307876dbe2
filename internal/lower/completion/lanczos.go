package completion

import (
	"math"
	"math/rand/v2"

	"github.com/conetune/conetune/internal/dense"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// triplets are singular vectors u_i, v_i of T on the complement of the singular vectors of G, and their values.
type triplets struct {
	u, v   [][]float64
	values []float64
}

const (
	// lanczosMost bounds the steps, lanczosFirst is when the values are looked at for the first time, and again after
	// lanczosGrowth times as many.
	lanczosMost, lanczosFirst, lanczosGrowth = 400, 12, 1.4
	// lanczosShare is how many steps a value above the threshold takes.
	lanczosShare = 8
	// growth of the largest singular value above the threshold, relative, is that of a missing column.
	growth = 1e-10
)

// lanczos is a bidiagonalisation of (I - QQ') T (I - PP'),
//
//	T v_j = alpha_j u_j + beta_j-1 u_j-1,   T'u_j = alpha_j v_j + beta_j v_j+1,
//
// with full reorthogonalisation.
type lanczos struct {
	f             *factored
	known         [2]*mat.Dense // Q and P, nil where there are none
	us, vs        []float64     // one vector after the other
	alphas, betas []float64
	next          []float64 // v_j+1 times beta_j
	least         float64   // a length that is rounding
}

// lanczos bounds the largest singular value of (I - QQ') T (I - PP'), and returns the vectors that it knows of with
// values above the threshold. It ends as soon as the largest value is known to a hundredth of its distance from the
// threshold; threshold 0 asks for it to rounding. From a random start the largest Ritz value converges to the largest
// value; it and its residual are the bound.
func (f *factored) lanczos(threshold float64, vectors [2]*mat.Dense) (bound float64, found triplets) {
	z := lanczos{f: f, known: vectors}
	m, n, known := f.j.m, f.j.n, 0
	if vectors[0] != nil {
		known = vectors[0].RawMatrix().Cols
	}
	if m == 0 || !z.start(n) {
		return 0, found
	}
	look := lanczosFirst
	top := min(m-known+1, n-known, lanczosMost)
	for step := 1; step <= top; step++ {
		z.step()
		over := z.beta() <= z.least || step == top
		if !over && step < look && !f.end.Reached(2*(m+n)*step) {
			continue
		}
		look = int(lanczosGrowth*float64(step)) + 1
		r, ok := z.ritz()
		if !ok {
			return math.Inf(1), found
		}
		over = over || f.end.Look()
		if over || r.ends(threshold) {
			return math.Max(r.values[0]+r.residual, 0), z.triplets(r, threshold*(1+growth))
		}
	}
	return 0, found
}

// start draws v_1; false where there is no direction but those of P.
func (z *lanczos) start(n int) bool {
	rng := rand.New(rand.NewPCG(1, 2))
	z.next = make([]float64, n)
	for i := range z.next {
		z.next[i] = rng.NormFloat64()
	}
	z.project(1, z.next, nil)
	size := floats.Norm(z.next, 2)
	if size == 0 {
		return false
	}
	z.betas = []float64{size}
	return true
}

// beta is the last one.
func (z *lanczos) beta() float64 { return z.betas[len(z.betas)-1] }

// project makes v orthogonal to Q, or P, and to the vectors before: once more where that left so little of it that
// rounding counts (Kahan's "twice is enough").
func (z *lanczos) project(side int, v, basis []float64) {
	const littleLeft = 0.5
	rows := len(v)
	steps := len(basis) / rows
	before := floats.Norm(v, 2)
	for try := range 2 {
		if try > 0 && floats.Norm(v, 2) > littleLeft*before {
			return
		}
		if z.known[side] != nil {
			q := z.known[side].RawMatrix()
			addProduct(v, -1, q.Data, q.Cols, gram(q.Data, q.Cols, v, 1), 1)
		}
		along := make([]float64, steps)
		dense.GemvT(rows, steps, basis, rows, v, along)
		floats.Scale(-1, along)
		dense.GemvN(rows, steps, basis, rows, along, v)
	}
}

// step adds a vector to each side.
func (z *lanczos) step() {
	m, n := z.f.j.m, z.f.j.n
	v := z.next
	floats.Scale(1/z.beta(), v)
	u := z.f.times(v, 1, false)
	z.project(0, u, z.us)
	alpha, beta := floats.Norm(u, 2), 0.0
	z.least = math.Max(z.least, 1e-13*alpha)
	z.vs, z.alphas = append(z.vs, v...), append(z.alphas, alpha)
	z.next = make([]float64, n)
	if alpha > z.least {
		floats.Scale(1/alpha, u)
		z.us = append(z.us, u...)
		z.next = z.f.times(u, 1, true)
		z.project(1, z.next, z.vs)
		beta = floats.Norm(z.next, 2)
	} else {
		z.us = append(z.us, make([]float64, m)...)
	}
	z.betas = append(z.betas, beta)
}

// ritz are the singular values of the bidiagonal matrix and its vectors, and the residual of the largest.
type ritz struct {
	values   []float64
	p, q     *mat.Dense
	residual float64
}

// ritz decomposes the bidiagonal matrix; false where that failed.
func (z *lanczos) ritz() (r ritz, ok bool) {
	steps := len(z.alphas)
	b := mat.NewDense(steps, steps, nil)
	for i, a := range z.alphas {
		b.Set(i, i, a)
		if i+1 < steps {
			b.Set(i, i+1, z.betas[i+1])
		}
	}
	if r.p, r.values, r.q = singular(b); r.p == nil {
		return r, false
	}
	if beta := z.beta(); beta > z.least {
		r.residual = beta * math.Abs(r.p.At(steps-1, 0))
	}
	return r, true
}

// ends says that the largest value is known well enough.
func (r *ritz) ends(threshold float64) bool {
	top := r.values[0]
	known := threshold > 0 && r.residual <= 0.01*math.Abs(top-threshold)
	return known && (top <= threshold || complete(r.values, threshold)) || r.residual <= 1e-12*top
}

// triplets are those of values above least.
func (z *lanczos) triplets(r ritz, least float64) (found triplets) {
	for l, x := range r.values {
		if !(x > least) {
			break
		}
		m, n := z.f.j.m, z.f.j.n
		left, right := make([]float64, m), make([]float64, n)
		for i := range z.alphas {
			floats.AddScaled(left, r.p.At(i, l), z.us[i*m:(i+1)*m])
			floats.AddScaled(right, r.q.At(i, l), z.vs[i*n:(i+1)*n])
		}
		found.u, found.v, found.values = append(found.u, left), append(found.v, right), append(found.values, x)
	}
	return found
}

// complete says whether most of the values above the threshold are known: they are a small part of the steps.
func complete(values []float64, threshold float64) bool {
	above := 0
	for above < len(values) && values[above] > threshold {
		above++
	}
	return lanczosShare*above <= len(values)
}
