package completion

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// hessian sets out to the second derivative of F along t, with the shift.
func (f *factored) hessian(out, t tangent) {
	clear(out.all)
	k := f.k
	f.left, f.right = pairs(f.left, t.A, f.a, k), pairs(f.right, f.b, t.B, k)
	left, right := f.left, f.right
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		of, change, r := f.side(s), f.work[s], f.r[s]
		shift := 0.0
		if f.j.intercept {
			shift = t.S[len(f.set)]
		}
		for e := range change {
			change[e] = shift
		}
		of.push(change, 1, of.x, f.set, t.S)
		if k > 0 {
			of.each(6*k, func(from, to int) {
				var x [2]float64
				for at := from; at < to; at++ {
					e := of.entry(at)
					i, l := of.row[e], of.col[e]
					a, b := left[2*i*k:2*(i+1)*k], right[2*l*k:2*(l+1)*k]
					change[e] += inner(a, b)
					x[0], x[1] = w*r[e], -w*change[e]
					dense.GemvN(k, 2, a, k, x[:], out.B[l*k:(l+1)*k])
					x[0], x[1] = x[1], x[0]
					dense.GemvN(k, 2, b, k, x[:], out.A[i*k:(i+1)*k])
				}
			})
		}
		of.pull(out.S, w, of.x, f.set, change)
		if f.j.intercept {
			out.S[len(f.set)] += w * floats.Sum(change)
		}
	}
	if f.rho > 0 && k > 0 {
		half := func(to, ta, a, tb, b, ca, cb []float64) {
			addProduct(to, f.rho, ta, k, gram(b, k, b, k), k)
			addProduct(to, f.rho, a, k, gram(tb, k, b, k), k)
			addProduct(to, f.rho, a, k, gram(b, k, tb, k), k)
			addProduct(to, -f.rho, ca, f.kc, gram(cb, f.kc, tb, k), k)
		}
		half(out.A, t.A, f.a, t.B, f.b, f.ca, f.cb)
		half(out.B, t.B, f.b, t.A, f.a, f.cb, f.ca)
	}
	floats.AddScaled(out.A, f.nuclear+f.shift, t.A)
	floats.AddScaled(out.B, f.nuclear+f.shift, t.B)
	at := 0
	for _, g := range f.active {
		size, along, from := f.size(g), 0.0, at
		for ; at < len(f.set) && f.j.of[f.set[at]] == g; at++ {
			along += f.x[f.set[at]] * t.S[at]
		}
		for i := from; i < at; i++ {
			out.S[i] += f.norm[g]*(t.S[i]/size-f.x[f.set[i]]*along/(size*size*size)) + f.rho*t.S[i]
		}
	}
	if f.j.intercept {
		out.S[len(f.set)] += f.rho * t.S[len(f.set)]
	}
	f.hold(out, t)
}

// pairs are the rows of A and of B, of k columns, one after the other, in the memory of out where that is large enough.
func pairs(out, a, b []float64, k int) []float64 {
	out = slices.Grow(out[:0], 2*len(a))
	for i := 0; i < len(a); i += k {
		out = append(append(out, a[i:i+k]...), b[i:i+k]...)
	}
	return out
}

// hold adds the term that holds the rotation to the product of the Hessian with t: for a skew matrix W the direction (A
// W, B W) turns both factors, and t has along it <W, A't_A + B't_B>. The sum over pairs p < q of columns, each with the
// square of its part and the weight m_0 / |(A, B)_p, (A, B)_q|^2, has eigenvalues near m_0 on the rotations if A'A and
// B'B are diagonal, and is zero on what is orthogonal to them.
func (f *factored) hold(out, t tangent) {
	k := f.k
	if k < 2 || f.nuclear == 0 {
		return
	}
	if len(f.holds) != k*k {
		size := make([]float64, k)
		for _, factor := range [][]float64{f.a, f.b} {
			for i, v := range factor {
				size[i%k] += v * v
			}
		}
		f.holds = make([]float64, k*k)
		for p := range k {
			for q := range k {
				if p != q {
					f.holds[p*k+q] = f.nuclear / math.Max(size[p]+size[q], math.SmallestNonzeroFloat64)
				}
			}
		}
	}
	turn := gram(f.a, k, t.A, k)
	floats.Add(turn, gram(f.b, k, t.B, k))
	for p := range k {
		turn[p*k+p] = 0
		for q := range p {
			w := f.holds[p*k+q] * (turn[p*k+q] - turn[q*k+p])
			turn[p*k+q], turn[q*k+p] = w, -w
		}
	}
	addProduct(out.A, 1, f.a, k, turn, k)
	addProduct(out.B, 1, f.b, k, turn, k)
}

// conjugate returns t with H t = q by preconditioned conjugate gradients, for q orthogonal to the kernel of the Hessian
// H, the rotations of A and B, and t too, as a term that penalises them is added to H. bent is how negative the
// curvature was, where that ended it.
func (f *factored) conjugate(q tangent, tol float64, steps int) tangent {
	system := numerics.System{
		Multiply: func(out, t []float64) bool {
			f.hessian(f.tangent(out), f.tangent(t))
			return !f.end.Look()
		},
		Divide: f.preconditionTo,
	}
	t := make([]float64, len(q.all))
	taken, _ := system.Solve(t, slices.Clone(q.all), tol, steps)
	f.bent = 0
	if system.Bent {
		if taken == 0 {
			copy(t, system.Way)
		}
		both := system.Way[:len(f.a)+len(f.b)]
		f.bent = math.Max(math.SmallestNonzeroFloat64, -system.Curve/floats.Dot(both, both))
	}
	return f.tangent(t)
}
