package sparse

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// memory is the number of epochs that an extrapolation combines.
const memory = 5

// extrapolation accelerates the epochs over a working set: of the last epochs' iterates x_0, ..., x_K
// it takes the combination of x_1, ..., x_K, with coefficients of sum 1, whose step is the
// shortest, |sum_k a_k (x_k - x_(k-1))|, if the objective is smaller there than at x_K.
type extrapolation struct {
	s       *leastsquares.Point
	penalty func() float64 // of the iterate
	cols    []int
	x, r    [][]float64 // the iterates over cols, and their residuals
	off     []float64
}

func newExtrapolation(s *leastsquares.Point, cols []int, penalty func() float64) *extrapolation {
	e := &extrapolation{s: s, cols: cols, penalty: penalty}
	for range memory + 1 {
		e.x = append(e.x, make([]float64, len(cols)))
		e.r = append(e.r, make([]float64, len(s.R)))
	}
	e.record()
	return e
}

// reset forgets all iterates but the present one.
func (e *extrapolation) reset() {
	e.off = e.off[:0]
	e.record()
}

// record adds the present iterate, and extrapolates when there are enough.
func (e *extrapolation) record() {
	k := len(e.off)
	for i, j := range e.cols {
		e.x[k][i] = e.s.B[j]
	}
	copy(e.r[k], e.s.R)
	e.off = append(e.off, e.s.Off)
	if k < memory {
		return
	}
	e.extrapolate()
	e.reset()
}

func (e *extrapolation) extrapolate() {
	s := e.s
	steps := make([][]float64, memory)
	for k := range steps {
		steps[k] = make([]float64, len(e.cols))
		floats.SubTo(steps[k], e.x[k+1], e.x[k])
	}
	gram, trace := mat.NewSymDense(memory, nil), 0.0
	for i := range steps {
		for k := i; k < memory; k++ {
			gram.SetSym(i, k, floats.Dot(steps[i], steps[k]))
		}
		trace += gram.At(i, i)
	}
	if !(trace > 0) {
		return
	}
	for i := range steps {
		gram.SetSym(i, i, gram.At(i, i)+1e-12*trace)
	}
	var chol mat.Cholesky
	a := mat.NewVecDense(memory, slices.Repeat([]float64{1}, memory))
	if !chol.Factorize(gram) || chol.SolveVecTo(a, a) != nil {
		return
	}
	a.ScaleVec(1/floats.Sum(a.RawVector().Data), a)

	x, r, off := make([]float64, len(e.cols)), make([]float64, len(s.R)), 0.0
	for k := range steps {
		floats.AddScaled(x, a.AtVec(k), e.x[k+1])
		floats.AddScaled(r, a.AtVec(k), e.r[k+1])
		off += a.AtVec(k) * e.off[k+1]
	}
	before := s.Loss(s.R, s.Off) + e.penalty()
	for i, j := range e.cols {
		s.B[j] = x[i]
	}
	if s.Loss(r, off)+e.penalty() < before {
		copy(s.R, r)
		s.Off = off
		return
	}
	for i, j := range e.cols {
		s.B[j] = e.x[memory][i]
	}
}
