package native

import "github.com/conetune/conetune/internal/dense"

func dot(x, y []float64) float64 {
	y = y[:len(x)]
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func axpy(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// mulP writes Px into out, P given by its upper triangle.
func (f *form) mulP(out, x []float64) {
	clear(out)
	if len(f.p.val) == 0 {
		return
	}
	work := 2 * (f.n + len(f.p.val))
	short := f.stop.Short(work)
	if short && f.stop.Reached(work) {
		return
	}
	for j := range f.n {
		if !short && f.stop.Reached(2+2*int(f.p.ptr[j+1]-f.p.ptr[j])) {
			return
		}
		xj, sum := x[j], 0.0
		for k := f.p.ptr[j]; k < f.p.ptr[j+1]; k++ {
			i, v := f.p.ind[k], f.p.val[k]
			sum += v * x[i]
			if int(i) != j {
				out[i] += v * xj
			}
		}
		out[j] += sum
	}
}

// mulA writes Ax into out.
func (f *form) mulA(out, x []float64) {
	clear(out)
	f.a.addMul(out, x)
}

// mulAt writes A'z into out.
func (f *form) mulAt(out, z []float64) {
	clear(out)
	f.a.addMulT(out, z)
}

// Those of package dense.
func maxAbs(v []float64) float64      { return dense.MaxAbs(v) }
func norm1(v []float64) float64       { return dense.Norm1(v) }
func scaleBy(v []float64, by float64) { dense.Scale(v, by) }
