package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// scaled is a quadratic model of the curvatures of a fold: a fit of squares whose columns are those of the working set
// times the roots of the curvatures, in the rows that it trains.
type scaled struct {
	residual
	columns *columns
	list    []int     // rows
	at32    []int32   // of the table's rows in the list, -1 for others
	curve   []float64 // of all rows
}

// takeOwn has the curvatures of a fold in its model: of products of all features where there are such, and most of them
// are in use.
func (f *fold) takeOwn(ctx context.Context) {
	if d := f.d; d.curved.shared && (d.gaps != nil || 2*len(f.features()) > d.p) {
		f.multiply(ctx)
		return
	}
	s := f.scaledBy(f.point.curve)
	f.point.model, f.point.unit = s.curve, f.point.total/s.weight
}

// multiply makes the products of all features with the curvatures of a fold.
func (f *fold) multiply(ctx context.Context) {
	q, pt, rows := *f.d, f.point, []int(nil)
	if g, ok := f.products.(*gram); ok && g.own && !pt.slow &&
		floats.Distance(pt.model, pt.curve, 1) <= renew*floats.Sum(pt.curve) {
		return
	}
	for i, train := range q.train[f.number] {
		if train {
			rows = append(rows, i)
		}
	}
	q.curved, q.y, q.q, q.weights = nil, nil, 0, slices.Clone(pt.curve)
	if q.gaps != nil {
		q.more = q.gaps.More[f.number]
	}
	raise(q.weights, q.train[f.number])
	s := q.sums(ctx, rows)
	g := &gram{d: &q, h: make([][]float64, len(q.folds)), own: true}
	dense.Scale(s.less, -1)
	f.part = q.part(s, q.folds[f.number])
	f.part.centre(s.less, q.p)
	g.h[f.number], f.products, f.local = s.less, g, nil
	pt.model, pt.unit = q.weights, pt.total/f.part.weight
}

// scaledBy is the model of a fold with some curvatures of its training rows.
func (f *fold) scaledBy(curve []float64) *scaled {
	d := f.d
	s, ok := f.products.(*scaled)
	if !ok {
		s = &scaled{at32: make([]int32, d.n), curve: make([]float64, d.n)}
		s.place = make([]int, d.p)
		for i, train := range d.train[f.number] {
			if s.at32[i] = -1; train {
				s.at32[i] = int32(len(s.list))
				s.list = append(s.list, i)
			}
		}
		s.count, s.root, s.even = len(s.list), make([]float64, len(s.list)), true
		s.r, s.shift = [][]float64{make([]float64, len(s.list))}, make([]float64, 1)
		f.products = s
	}
	copy(s.curve, curve)
	raise(s.curve, d.train[f.number])
	s.weight = floats.Sum(s.curve)
	for l, i := range s.list {
		s.root[l] = math.Sqrt(s.curve[i])
	}
	f.part = &part{weight: s.weight}
	return s
}

// begin implements products. The models of all folds on a thread have the same memory, which stays in the cache.
func (s *scaled) begin(f *fold) {
	pt := f.point
	s.columns, _ = f.d.curved.lent.Get().(*columns)
	s.load(f, f.features())
	s.shift[0] = -pt.slant * pt.unit
	for l, i := range s.list {
		s.r[0][l] = pt.pull[i] / s.root[l]
	}
}

// load makes the columns of features.
func (s *scaled) load(f *fold, features []int) {
	x := f.d.columns()
	if s.columns == nil {
		s.columns = new(columns)
	}
	c := s.columns
	c.begin(len(s.list), x.Dense())
	for k, j := range features {
		s.place[j] = k
		sum, squares := c.add(x, j, s.list, s.at32, 0, s.root)
		mean := 0.0
		if f.d.intercept {
			mean = sum / s.weight
		}
		c.end(mean, max(squares/s.weight-mean*mean, 0))
	}
	s.x, s.mean, s.squares, f.work = c.matrix(), c.mean, c.squares, &s.residual
}

// end gives the columns back.
func (s *scaled) end(f *fold) {
	f.d.curved.lent.Put(s.columns)
	s.columns = nil
}
