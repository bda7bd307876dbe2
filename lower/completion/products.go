package completion

import (
	"runtime"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"gonum.org/v1/gonum/floats"
)

const (
	// kernelLength is the length from which on the kernels of internal/dense pay for their calls.
	kernelLength = 8
	// productWork is the number of multiplications in a row of a product from which on it is one of matrices.
	productWork = 256
)

func inner(a, b []float64) float64 {
	if len(a) >= kernelLength {
		return dense.Dot(a, b)
	}
	sum := 0.0
	for l, v := range a {
		sum += v * b[l]
	}
	return sum
}

func addScaled(to []float64, c float64, a []float64) {
	if len(a) >= kernelLength {
		dense.Axpy(c, a, to)
		return
	}
	for l, v := range a {
		to[l] += c * v
	}
}

// strips is the number of strips that the rows of large products are cut into, whatever the number of threads.
const strips = 8

// eachStrip calls do for the strips of rows, side by side where the products are large, with work multiplications in a row.
func eachStrip(rows, work int, do func(strip, from, to int)) {
	n := strips
	if rows*work < besideLeast {
		n = 1
	}
	crew.Each(n, runtime.GOMAXPROCS(0), func(i int) { do(i, rows*i/n, rows*(i+1)/n) })
}

// sumStrips adds to out what do adds for each strip, in their order.
func sumStrips(rows, work int, out []float64, do func(from, to int, out []float64)) {
	var parts [strips][]float64
	eachStrip(rows, work, func(strip, from, to int) {
		parts[strip] = make([]float64, len(out))
		do(from, to, parts[strip])
	})
	for _, part := range parts {
		if part != nil {
			floats.Add(out, part)
		}
	}
}

// gram is A'B, k x l by rows, of matrices with as many rows.
func gram(a []float64, k int, b []float64, l int) []float64 {
	out := make([]float64, k*l)
	if k == 0 || l == 0 {
		return out
	}
	rows := len(a) / k
	if l == 1 && k >= kernelLength {
		dense.GemvN(k, rows, a, k, b, out)
		floats.Scale(-1, out)
		return out
	}
	if k*l >= productWork {
		sumStrips(rows, k*l, out, func(from, to int, out []float64) {
			dense.GemmNT(l, k, to-from, b[from*l:], l, a[from*k:], k, out, l) // by columns it is -B'A
		})
		for i, v := range out {
			out[i] = -v
		}
		return out
	}
	for i := range rows {
		row := b[i*l : (i+1)*l]
		for p, v := range a[i*k : (i+1)*k] {
			addScaled(out[p*l:(p+1)*l], v, row)
		}
	}
	return out
}

// addProduct adds c A M to a matrix by rows, with A of k columns and M k x l.
func addProduct(to []float64, c float64, a []float64, k int, m []float64, l int) {
	if k == 0 || l == 0 {
		return
	}
	rows := len(a) / k
	if l == 1 && k >= kernelLength {
		x := make([]float64, k)
		floats.AddScaled(x, -c, m)
		dense.GemvT(k, rows, a, k, x, to)
		return
	}
	if k*l >= productWork {
		minus := make([]float64, k*l)
		for i, v := range m {
			minus[i] = -c * v
		}
		eachStrip(rows, k*l, func(_, from, until int) {
			turned := make([]float64, (until-from)*k)
			transpose(turned, a[from*k:until*k], k, until-from)
			dense.GemmNT(l, until-from, k, minus, l, turned, until-from, to[from*l:until*l], l) // by columns
		})
		return
	}
	for i := range rows {
		row := to[i*l : (i+1)*l]
		for p, v := range a[i*k : (i+1)*k] {
			addScaled(row, c*v, m[p*l:(p+1)*l])
		}
	}
}
