package sparse

import (
	"math"

	"github.com/conetune/conetune/lower/internal/leastsquares"
)

const (
	// cheapHomotopy is the estimated work up to which a homotopy is tried from a start, in epochs, and firstHomotopy
	// bounds its work, in units of the estimate.
	cheapHomotopy, firstHomotopy = 400, 5
	// firstNewton bounds the work of the Newton steps from a start, in units of the first.
	firstNewton = 3
	// newtonShare bounds the work of later ones, relative to the epochs before.
	newtonShare = 4
)

// inner solves the problem over the working set cols to a gap of at most tol.
func (s *solve) inner(cols []int, tol float64) {
	const check = 10 // epochs between looks at the gap
	if s.wide(cols) && s.dualNewton(cols) && s.settled(cols, tol) {
		return
	}
	if s.used() > 0 {
		if work := s.homotopyWork(cols); work <= cheapHomotopy*s.work(cols) && s.homotopy(cols, firstHomotopy*work) && s.settled(cols, tol) {
			return
		}
		if s.newton(cols, firstNewton*s.newtonWork(cols)) && s.settled(cols, tol) {
			return // the signs of the last iterate are right
		}
	}
	e := newExtrapolation(&s.Point, cols, func() float64 { return s.penalty(cols, s.B) })
	work, spent, all := s.work(cols), 0.0, 0.0
	sweep := func(bool) bool { return s.epoch(cols) }
	if p := s.pack(cols); p != nil {
		sweep = p.epoch
	}
	last := 0 // epoch of the last iterative Newton step
	for epoch := 1; s.epochs < s.o.MaxEpochs; epoch++ {
		moved := sweep((epoch-1)%check < wholeEpochs)
		if s.Stop.Look() {
			return
		}
		s.epochs++
		spent += work
		all += work
		e.record()
		if epoch%check != 0 && moved {
			continue
		}
		if s.settled(cols, tol) || !moved {
			return
		}
		if all >= s.homotopyWork(cols) {
			budget := newtonShare * all
			all = 0
			if s.homotopy(cols, budget) && s.settled(cols, tol) {
				return
			}
			e.reset()
		}
		// A Newton step may cost what the epochs since the last one did.
		if !s.X.Dense() && epoch-last >= iterativeFirst && math.IsInf(s.newtonWork(cols), 1) {
			moved := s.iterativeNewton(cols, iterativeSteps*(epoch-last))
			last = epoch
			if moved {
				e.reset()
				if s.settled(cols, tol) {
					return
				}
			}
			continue
		}
		if spent >= s.newtonWork(cols) {
			budget := spent
			spent = 0
			if s.newton(cols, newtonShare*budget) {
				e.reset()
				if s.settled(cols, tol) {
					return
				}
			}
		}
	}
}

// settled says whether the gap of the problem over cols is at most tol.
func (s *solve) settled(cols []int, tol float64) bool {
	s.Fold()
	u := s.R
	if s.free != nil {
		u = s.free.project(s.R)
	}
	for _, j := range cols {
		if s.Stop.Reached(s.X.Len(j)) {
			return false
		}
		s.c[j] = s.X.Dot(j, u) / s.N
	}
	bound, _ := s.dual(cols, u, s.c)
	return s.Loss(s.R, s.Off)+s.penalty(cols, s.B)-bound <= tol
}

// epoch is one round of coordinate descent over cols: with l_j = |x_j|^2 / n and
// c_j = x_j'u / n,
//
//	b_j = soft(l_j b_j + c_j, w1_j) / (l_j + w2_j).
//
// It says whether any coefficient moved.
func (s *solve) epoch(cols []int) (moved bool) {
	for _, j := range cols {
		if s.Stop.Reached(s.X.Len(j)) {
			return moved
		}
		l, old := s.Norm2[j]/s.N, s.B[j]
		b := leastsquares.Soft(l*old+s.Correlation(j, s.R, s.Off), s.w1[j]) / (l + s.w2[j])
		if b != old {
			s.B[j] = b
			s.Move(j, old-b)
			moved = true
		}
	}
	return moved
}

// work is the number of multiplications in an epoch.
func (s *solve) work(cols []int) float64 {
	sum := 0
	for _, j := range cols {
		sum += s.X.Len(j)
		if s.B[j] != 0 {
			sum += s.X.Len(j)
		}
	}
	return float64(sum)
}

// support are the features of cols whose coefficient is not zero.
func (s *solve) support(cols []int) []int {
	var set []int
	for _, j := range cols {
		if s.B[j] != 0 {
			set = append(set, j)
		}
	}
	return set
}

// newtonWork estimates the multiplications of a Newton step, those of the blocked kernels at half.
func (s *solve) newtonWork(cols []int) float64 {
	k, entries := 0, 0
	for _, j := range cols {
		if s.B[j] != 0 {
			k++
			entries += s.X.Len(j)
		}
	}
	order := min(k, s.X.Rows())
	if order > newtonMost {
		return math.Inf(1)
	}
	gram := float64(order) * float64(entries) / 2
	if s.X.Dense() {
		gram /= 2
	}
	return gram + float64(order*order*order)/6
}

// homotopyWork estimates the multiplications of [solve.homotopy], whose pieces are at least as many as there are
// features that violate their conditions and are not in use; c is that of the last look.
func (s *solve) homotopyWork(cols []int) float64 {
	k, inUse, all, pieces := 0, 0.0, 0.0, 10.0
	for _, j := range cols {
		n := float64(s.X.Len(j))
		all += n
		switch {
		case s.B[j] != 0:
			k++
			inUse += n
		case math.Abs(s.c[j]) > s.w1[j]:
			pieces++
		}
	}
	if k > newtonMost {
		return math.Inf(1)
	}
	order := float64(k)
	return order*inUse/2 + order*order*order/6 + pieces*(all+2*inUse+2*order*order)
}

// wide says that the dual is the smaller problem.
func (s *solve) wide(cols []int) bool {
	if s.X.Rows() > newtonMost {
		return false
	}
	k := 0
	for _, j := range cols {
		if s.w2[j] == 0 {
			return false
		}
		if s.B[j] != 0 || math.Abs(s.c[j]) > s.w1[j] {
			k++
		}
	}
	return k >= 2*s.X.Rows()
}
