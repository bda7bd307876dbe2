package descent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/stop"
)

// Groups is a regression whose features are divided into groups, for the sparse group lasso
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + sum_g w_g |b^(g)|_2 + sum_j w1_j |b_j|
//
// by the same outer iterations as [Regression], with working sets of groups, block coordinate
// descent over them, and Newton steps on the coefficients that are not zero, where the objective is smooth.
// A dual point u is feasible where |soft(X_g'u / n, w1)|_2 <= w_g for all g (Ndiaye,
// Fercoq, Gramfort, Salmon, NIPS 2016).
type Groups struct {
	*Regression
	members   [][]int
	of        []int     // the group of each feature
	lipschitz []float64 // largest eigenvalues of X_g'X_g / n
}

// GroupWeights are those of the penalties. Each feature needs a positive one of the two.
type GroupWeights struct {
	// Norm holds w_g, one for each group or one for all.
	Norm []float64
	// L1 holds w1: nil for 0, one for all, or one for each feature.
	L1 []float64
}

// NewGroups divides the features of a regression: members lists those of each group, and each feature is
// in one. The lists are kept.
func NewGroups(g *Regression, members [][]int) (*Groups, error) {
	q := &Groups{Regression: g, members: members, of: make([]int, g.x.p), lipschitz: make([]float64, len(members))}
	for j := range q.of {
		q.of[j] = -1
	}
	for k, group := range members {
		if len(group) == 0 {
			return nil, fmt.Errorf("descent: group %d is empty", k)
		}
		for _, j := range group {
			if j < 0 || j >= g.x.p {
				return nil, fmt.Errorf("descent: group %d has feature %d, expected 0 to %d", k, j, g.x.p-1)
			}
			if q.of[j] >= 0 {
				return nil, fmt.Errorf("descent: feature %d is in groups %d and %d", j, q.of[j], k)
			}
			q.of[j] = k
		}
		q.lipschitz[k] = largestEigenvalue(g, group)
	}
	if j := slices.Index(q.of, -1); j >= 0 {
		return nil, fmt.Errorf("descent: feature %d is in no group", j)
	}
	return q, nil
}

// eigenMost bounds the groups whose largest eigenvalue is computed; larger ones get a bound.
const eigenMost = 100

// largestEigenvalue returns that of X_S'X_S / n, or a bound of it.
func largestEigenvalue(g *Regression, set []int) float64 {
	trace := 0.0
	for _, j := range set {
		trace += g.norm2[j] / float64(g.x.n)
	}
	// Beyond these sizes the eigenvalues of gonum, which scales matrices by themselves there, are not to be had; nor are those of blocks of
	// entries that are as small beside the others, which are nothing.
	if len(set) == 1 || len(set) > eigenMost || !(trace > 1e-100 && trace < 1e100) {
		return trace
	}
	h := g.Hessian(set, nil)
	for i := range set {
		for j := i; j < len(set); j++ {
			if math.Abs(h.At(i, j)) < 1e-30*trace {
				h.SetSym(i, j, 0)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		return trace
	}
	return math.Min(trace, eigen.Values(nil)[len(set)-1]*(1+1e-12))
}

// LambdaMax is the smallest weight that, common to all norms and to w1, makes all coefficients zero.
func (q *Groups) LambdaMax() float64 {
	top := 0.0
	c := make([]float64, len(q.xty))
	for j, v := range q.xty {
		c[j] = v / float64(q.x.n)
	}
	for _, group := range q.members {
		// The root of |soft(c, l)| = l lies below |c|_inf.
		lo, hi := top, 0.0
		for _, j := range group {
			hi = math.Max(hi, math.Abs(c[j]))
		}
		for hi-lo > 1e-15*hi {
			l := (lo + hi) / 2
			if l == lo || l == hi {
				break
			}
			if softNorm(group, c, 1, func(int) float64 { return l }) > l {
				lo = l
			} else {
				hi = l
			}
		}
		top = math.Max(top, hi)
	}
	return top
}

// softNorm is |soft(t c_g, w1)|_2 over a group.
func softNorm(group []int, c []float64, t float64, w1 func(int) float64) float64 {
	sum := 0.0
	for _, j := range group {
		if v := t*math.Abs(c[j]) - w1(j); v > 0 {
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

func (q *Groups) weights(w GroupWeights) (norm, l1 []float64, err error) {
	if norm, err = spread("Norm", w.Norm, len(q.members)); err != nil {
		return nil, nil, err
	}
	if l1, err = spread("L1", w.L1, q.x.p); err != nil {
		return nil, nil, err
	}
	for j, k := range q.of {
		if norm[k] == 0 && l1[j] == 0 {
			return nil, nil, fmt.Errorf("descent: feature %d of group %d has no penalty, expected a positive weight of its own or of its group", j, k)
		}
	}
	return norm, l1, nil
}

// Solve returns a solution at the weights w, as [Regression.Solve] does.
func (q *Groups) Solve(ctx context.Context, w GroupWeights, o Options) (*Solution, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	norm, l1, err := q.weights(w)
	if err != nil {
		return nil, err
	}
	s := &groupSolve{iterate: newIterate(q.Regression), q: q, norm: norm, l1: l1, o: o, c: make([]float64, q.x.p), bound: math.Inf(-1)}
	for k := range q.members {
		if q.lipschitz[k] > 0 {
			s.alive = append(s.alive, k)
		}
	}
	if o.Start != nil {
		if len(o.Start.B) != q.x.p {
			return nil, fmt.Errorf("descent: the start has %d coefficients, expected %d", len(o.Start.B), q.x.p)
		}
		for j, v := range o.Start.B {
			if q.norm2[j] > 0 {
				s.b[j] = v
			}
		}
	}
	status := s.run(ctx)
	out := s.solution()
	out.Status, out.Objective, out.Gap = status, s.objective, s.gap
	out.Outer, out.Epochs, out.Newton = s.outer, s.epochs, s.newtons
	return out, nil
}

// Hessian is that of the objective in the coefficients S, none of them zero: the matrix of
// [Regression.Hessian] and, within each group, w_g (I / |b_g| - b_g b_g' / |b_g|^3).
func (q *Groups) Hessian(set []int, b []float64, w GroupWeights) (*mat.SymDense, error) {
	norm, _, err := q.weights(w)
	if err != nil {
		return nil, err
	}
	return q.normHessian(set, b, norm), nil
}

func (q *Groups) normHessian(set []int, b, norm []float64) *mat.SymDense {
	h := q.Regression.Hessian(set, nil)
	size := make(map[int]float64)
	for i, j := range set {
		k := q.of[j]
		if norm[k] == 0 {
			continue
		}
		if _, known := size[k]; !known {
			size[k] = q.size(k, b)
		}
		for l, m := range set[i:] {
			if q.of[m] == k {
				h.SetSym(i, i+l, h.At(i, i+l)-norm[k]*b[j]*b[m]/(size[k]*size[k]*size[k]))
			}
		}
		h.SetSym(i, i, h.At(i, i)+norm[k]/size[k])
	}
	return h
}

// factor factors the matrix of [Groups.Hessian], with a ridge on its diagonal that is a share of the mean; the members of a group stand
// together in S. It says whether that went well.
func (q *Groups) factor(f *definite, set []int, b, norm []float64, share float64, end *stop.Stop) bool {
	k := len(set)
	// w_g (I / |b_g| - b_g b_g' / |b_g|^3) is diagonal I - outer b_g b_g', with the last member of the group at last.
	last, diagonal, outer := make([]int, k), make([]float64, k), make([]float64, k)
	trace, size := 0.0, 0.0
	for i := k - 1; i >= 0; i-- {
		j := set[i]
		g := q.of[j]
		if i == k-1 || q.of[set[i+1]] != g {
			last[i], size = i, q.size(g, b)
		} else {
			last[i] = last[i+1]
		}
		diagonal[i], outer[i] = norm[g]/size, norm[g]/(size*size*size)
		trace += q.norm2[j]/float64(q.x.n) + diagonal[i] - outer[i]*b[j]*b[j]
	}
	ridge := share * trace / float64(k)
	var h *mat.SymDense
	if q.gram == nil {
		if h = q.hessian(set, nil, end); h == nil {
			return false
		}
	}
	return f.factor(k, func(j int, column []float64) {
		if h != nil {
			raw := h.RawSymmetric()
			copy(column[j:], raw.Data[j*raw.Stride+j:j*raw.Stride+k])
		} else {
			known := q.gram.row(set[j])
			for i := j; i < k; i++ {
				column[i] = known[set[i]]
			}
		}
		scaled := outer[j] * b[set[j]]
		for i := j; i <= last[j]; i++ {
			column[i] -= scaled * b[set[i]]
		}
		column[j] += diagonal[j] + ridge
	})
}

// size is |b_g|_2.
func (q *Groups) size(k int, b []float64) float64 {
	sum := 0.0
	for _, j := range q.members[k] {
		sum += b[j] * b[j]
	}
	return math.Sqrt(sum)
}
