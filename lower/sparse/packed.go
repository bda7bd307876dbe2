package sparse

import (
	"math"

	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// packed is a working set of a sparse design with its columns side by side, and beside each what an epoch needs of it: columns are short, and what
// is far apart in memory takes longer than the arithmetic.
type packed struct {
	s     *solve
	cols  []int
	start []int   // of column i in index and value
	index []int32 // rows
	value []float64
	// curvature is |x_j|^2 / n, mean the shift of an intercept.
	curvature, w1, w2, mean []float64
	used                    []int // the columns whose coefficient was not zero after the last whole epoch
}

// pack returns the working set cols, nil for a dense design and one of more rows than an int32 counts.
func (s *solve) pack(cols []int) *packed {
	if s.X.Dense() || s.X.Rows() > math.MaxInt32 {
		return nil
	}
	k, entries := len(cols), 0
	for _, j := range cols {
		entries += s.X.Len(j)
	}
	p := &packed{
		s: s, cols: cols, start: make([]int, k+1), index: make([]int32, 0, entries), value: make([]float64, 0, entries),
		curvature: make([]float64, k), w1: make([]float64, k), w2: make([]float64, k), mean: make([]float64, k),
	}
	for i, j := range cols {
		index, value := s.X.Column(j)
		for _, row := range index {
			p.index = append(p.index, int32(row))
		}
		p.value = append(p.value, value...)
		p.start[i+1] = len(p.value)
		p.curvature[i], p.w1[i], p.w2[i], p.mean[i] = s.Norm2[j]/s.N, s.w1[j], s.w2[j], s.Shift(j)
	}
	return p
}

// wholeEpochs is how many of the epochs between two looks at the gap go over the whole working set. The others leave the coefficients
// that are zero, most of them, as they are.
const wholeEpochs = 2

// epoch is [solve.epoch], over the coefficients in use unless whole is set. It says whether any coefficient moved.
func (p *packed) epoch(whole bool) (moved bool) {
	if !whole && p.used != nil {
		for _, i := range p.used {
			if p.step(i) {
				moved = true
			}
			if p.s.Stop.Reached(p.start[i+1] - p.start[i]) {
				return moved
			}
		}
		if moved {
			return true
		}
	}
	p.used = p.used[:0]
	for i, j := range p.cols {
		if p.step(i) {
			moved = true
		}
		if p.s.B[j] != 0 {
			p.used = append(p.used, i)
		}
		if p.s.Stop.Reached(p.start[i+1] - p.start[i]) {
			return moved
		}
	}
	return moved
}

// step minimises over the coefficient of column i, and says whether it moved.
func (p *packed) step(i int) bool {
	s, j := p.s, p.cols[i]
	lo, hi := p.start[i], p.start[i+1]
	index, value, r := p.index[lo:hi], p.value[lo:hi], s.R
	value = value[:len(index)]
	var s0, s1 float64
	k := 0
	for ; k+2 <= len(index); k += 2 {
		s0 += value[k] * r[index[k]]
		s1 += value[k+1] * r[index[k+1]]
	}
	if k < len(index) {
		s0 += value[k] * r[index[k]]
	}
	c := (s0+s1)/s.N + s.Off*p.mean[i]
	old := s.B[j]
	if old == 0 && math.Abs(c) <= p.w1[i] {
		return false
	}
	b := leastsquares.Soft(p.curvature[i]*old+c, p.w1[i]) / (p.curvature[i] + p.w2[i])
	if b == old {
		return false
	}
	s.B[j] = b
	d := old - b
	for k, row := range index {
		r[row] += d * value[k]
	}
	s.Off -= d * p.mean[i]
	return true
}
