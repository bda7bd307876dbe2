package sparse

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

const (
	// multinomialFirst is the number of entries that a working set takes in at least where so many want to be in it.
	multinomialFirst = 64
	// multinomialRidge is the share of the diagonal that is added to second derivatives, which are singular along what adds the same to all classes. It does not
	// change where steps end.
	multinomialRidge, mostRidge = 1e-9, 1e-2
)

// step goes to the minimum of the model over a working set, as far as the objective falls, at a point with a relative gap that steps before have not halved so often. It says whether it did.
func (s *multinomialSolve) step(ctx context.Context, gap float64, idle int) bool {
	s.choose()
	if size := len(s.set); size > wholeSize || size >= truncatedSize && s.products < size/truncatedShare && idle < truncatedIdle {
		if fell := s.truncated(ctx, math.Min(truncatedLoosest, math.Sqrt(gap))); fell || size > wholeSize || ctx.Err() != nil {
			return fell
		}
	}
	blocks := s.curvatures(ctx)
	if ctx.Err() != nil || len(s.set) == 0 {
		return false
	}
	old := make([]float64, len(s.set))
	for i, e := range s.set {
		old[i] = s.coefficient(e)
	}
	for ridge := multinomialRidge; ridge <= mostRidge; ridge *= 100 {
		s.model(blocks, old, ridge)
		to := slices.Clone(old)
		if s.problem.solve(ctx, to) && s.line(old, to) {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return false
}

// at is the coefficient of an entry.
func (s *multinomialSolve) coefficient(e entry) float64 {
	if e.feature == design.Ones {
		return s.b0[e.class]
	}
	return s.b[e.feature*s.k+e.class]
}

// choose makes the working set: what is not zero, and of the zeros that want to move those that do most.
func (s *multinomialSolve) choose() {
	s.set = s.set[:0]
	var list []ranked
	used := 0
	for e, v := range s.b {
		if v != 0 {
			used++
		} else if over := math.Abs(s.c[e]) - s.terms.weight(e/s.k)*s.w1; over > 0 && s.moves(e) {
			list = append(list, ranked{over, e})
		}
	}
	list = foremost(list, max(multinomialFirst, used))
	in := make([]int, 0, used+len(list))
	for e, v := range s.b {
		if v != 0 {
			in = append(in, e)
		}
	}
	for _, r := range list {
		in = append(in, r.j)
	}
	// By classes, and within a class by features, so that the entries of two classes are a block.
	slices.SortFunc(in, func(a, b int) int { return cmp.Or(a%s.k-b%s.k, a-b) })
	at := 0
	for k := range s.k {
		if s.intercept {
			s.set = append(s.set, entry{design.Ones, k})
		}
		for ; at < len(in) && in[at]%s.k == k; at++ {
			s.set = append(s.set, entry{in[at] / s.k, k})
		}
	}
}

// model makes the quadratic problem around the coefficients old.
func (s *multinomialSolve) model(curvatures, old []float64, ridge float64) {
	size := len(s.set)
	q := &s.problem
	q.resize(size)
	q.box = s.terms.of(featuresOf(s.set))
	copy(q.a, curvatures)
	largest := 0.0
	for i := range size {
		largest = math.Max(largest, q.a[i*size+i])
	}
	for i, e := range s.set {
		row := q.a[i*size : (i+1)*size]
		row[i] += ridge * (row[i] + ridge*largest)
		if e.feature == design.Ones {
			for l, other := range s.set {
				if other.feature == design.Ones {
					row[l] += 1 / float64(s.k)
				}
			}
		}
	}
	for i, e := range s.set {
		row := q.a[i*size : (i+1)*size]
		q.q[i], q.w[i] = floats.Dot(row, old), 0
		if e.feature == design.Ones {
			q.q[i] += floats.Sum(s.u[e.class]) / s.n
			continue
		}
		f := s.terms.weight(e.feature)
		q.q[i] += s.c[e.feature*s.k+e.class]
		row[i] += f * s.w2
		q.w[i] = f * s.w1
	}
}

// featuresOf are those of a set of entries.
func featuresOf(set []entry) []int {
	out := make([]int, len(set))
	for i, e := range set {
		out[i] = e.feature
	}
	return out
}

// line goes from old towards to, as far as the objective falls by a share of what the model promises. It says whether the objective fell, or the change is of the size of
// its rounding error.
func (s *multinomialSolve) line(old, to []float64) bool {
	value, b, b0 := s.loss+s.penalty(s.b), slices.Clone(s.b), slices.Clone(s.b0)
	promise := 0.0
	for i, e := range s.set {
		d := to[i] - old[i]
		if e.feature == design.Ones {
			promise -= d * floats.Sum(s.u[e.class]) / s.n
			continue
		}
		promise += s.terms.weight(e.feature)*(s.w1*(math.Abs(to[i])-math.Abs(old[i]))+s.w2/2*(to[i]*to[i]-old[i]*old[i])) - d*s.c[e.feature*s.k+e.class]
	}
	if !(promise < 0) {
		return false
	}
	for t := 1.0; t > 1e-8; t /= 2 {
		for i, e := range s.set {
			v := to[i]
			if t < 1 {
				v = old[i] + t*(to[i]-old[i])
			}
			if e.feature == design.Ones {
				s.b0[e.class] = v
			} else {
				s.b[e.feature*s.k+e.class] = v
			}
		}
		s.predict()
		s.probabilities()
		next := s.loss + s.penalty(s.b)
		if -promise <= rounded*value || next <= value+1e-4*t*promise && next < value {
			return true
		}
	}
	copy(s.b, b)
	copy(s.b0, b0)
	s.predict()
	s.probabilities()
	return false
}
