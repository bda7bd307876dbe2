package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// refresh computes the residuals of the sets with a weight.
func (f *factored) refresh() {
	for s := range f.r {
		if f.w[s] > 0 {
			f.residual(s)
		}
	}
}

func (f *factored) residual(s int) {
	of, r := f.side(s), f.r[s]
	copy(r, of.y)
	of.push(r, -1, of.x, of.all, f.x)
	if f.b0 != 0 {
		floats.AddConst(-f.b0, r)
	}
	if k := f.k; k > 0 {
		of.entries(k, func(e int) {
			i, c := of.row[e], of.col[e]
			r[e] -= inner(f.a[i*k:(i+1)*k], f.b[c*k:(c+1)*k])
		})
	}
}

// loss is half the mean squared residual of a set, whatever its weight.
func (f *factored) loss(s int) float64 {
	n := len(f.r[s])
	if n == 0 {
		return 0
	}
	if f.w[s] == 0 {
		f.residual(s)
	}
	return floats.Dot(f.r[s], f.r[s]) / (2 * float64(n))
}

// penalty is the nuclear norm of balanced factors.
func (f *factored) penalty() float64 { return (floats.Dot(f.a, f.a) + floats.Dot(f.b, f.b)) / 2 }

// apart is |G - C|^2 + |b - c|^2 + (b0 - c0)^2.
func (f *factored) apart() float64 {
	d := floats.Distance(f.x, f.cx, 2)
	sum := d*d + (f.b0-f.c0)*(f.b0-f.c0)
	gg, gc, cc := f.matrices()
	return math.Max(0, sum+gg-2*gc+cc)
}

// matrices are |G|^2, <G, C> and |C|^2.
func (f *factored) matrices() (gg, gc, cc float64) {
	return floats.Dot(gram(f.a, f.k, f.a, f.k), gram(f.b, f.k, f.b, f.k)),
		floats.Dot(gram(f.a, f.k, f.ca, f.kc), gram(f.b, f.k, f.cb, f.kc)),
		floats.Dot(gram(f.ca, f.kc, f.ca, f.kc), gram(f.cb, f.kc, f.cb, f.kc))
}

// objective is F, of the residuals as they are.
func (f *factored) objective() float64 {
	sum := 0.0
	for s, w := range f.w {
		if w > 0 {
			sum += w / 2 * floats.Dot(f.r[s], f.r[s])
		}
	}
	if f.rho > 0 {
		sum += f.rho / 2 * f.apart()
	}
	sum += f.nuclear * f.penalty()
	for g, m := range f.norm {
		if m > 0 {
			sum += m * f.size(g)
		}
	}
	return sum
}

// correlations are w X_g'r - rho (b_g - c_g) over a group.
func (f *factored) correlations(group []int) []float64 {
	out := make([]float64, len(group))
	for i, l := range group {
		for s, w := range f.w {
			if w > 0 {
				out[i] += w * f.side(s).x.Dot(l, f.r[s])
			}
		}
		out[i] -= f.rho * (f.x[l] - f.cx[l])
	}
	return out
}

// gradient of F.
func (f *factored) gradient() tangent {
	g := f.zero()
	for s, w := range f.w {
		if w > 0 {
			f.pullSide(g, -w, s, f.r[s])
		}
	}
	if f.rho > 0 {
		addProduct(g.A, f.rho, f.a, f.k, gram(f.b, f.k, f.b, f.k), f.k)
		addProduct(g.A, -f.rho, f.ca, f.kc, gram(f.cb, f.kc, f.b, f.k), f.k)
		addProduct(g.B, f.rho, f.b, f.k, gram(f.a, f.k, f.a, f.k), f.k)
		addProduct(g.B, -f.rho, f.cb, f.kc, gram(f.ca, f.kc, f.a, f.k), f.k)
	}
	floats.AddScaled(g.A, f.nuclear, f.a)
	floats.AddScaled(g.B, f.nuclear, f.b)
	for i, l := range f.set {
		of := f.j.of[l]
		g.S[i] += f.norm[of]*f.x[l]/f.size(of) + f.rho*(f.x[l]-f.cx[l])
	}
	if f.j.intercept {
		g.S[len(f.set)] += f.rho * (f.b0 - f.c0)
	}
	return g
}

// pullSide adds c times the derivative of <v, X b + G + b0> over a set.
func (f *factored) pullSide(g tangent, c float64, s int, v []float64) {
	of, k := f.side(s), f.k
	if k > 0 {
		of.entries(2*k, func(e int) {
			i, l, x := of.row[e], of.col[e], c*v[e]
			addScaled(g.A[i*k:(i+1)*k], x, f.b[l*k:(l+1)*k])
			addScaled(g.B[l*k:(l+1)*k], x, f.a[i*k:(i+1)*k])
		})
	}
	of.pull(g.S, c, of.x, f.set, v)
	if f.j.intercept {
		g.S[len(f.set)] += c * floats.Sum(v)
	}
}
