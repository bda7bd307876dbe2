package regression

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// The ladder of models with a weight for each feature or group.
//
// On a rung, the norm of unit u has the weight lambda_1 f_u and, where the model has a 1-norm, |b_j| the weight
// lambda_2 f_j, with factors f of each fold. Those of the first rung are the model's, roots of sizes for groups. Those
// above it are these times
//
//	(|b_u| + delta)^-gamma,   delta = 0.01 max |b|,   gamma in {1/2, 1, 2},
//
// with b the solution of the rung below, its pilot, for the training rows of the same fold, at the weights that all
// folds chose, and |b_u| the root of the mean square of the coefficients of the unit, see [problems.AdaptiveRungs]. The
// pilot of all rows is a fit of the rung below to them, at the same weights. No pilot sees the rows that its fold
// validates.

// ladder is what the rungs of a model have in common.
type ladder struct {
	full     *Model
	base     *glm.Weights     // the factors of the first rung
	floor    float64          // delta over the largest pilot; without, what has no pilot is left out
	adapting sync.Mutex       // of what follows
	folds    []*fits.Together // the rows of all folds, or of each
	all      *fits.Together   // all rows
}

// rung is what makes a model one of a ladder.
type rung struct {
	*ladder
	factors []*glm.Weights // of each fold
	below   *Model         // the pilots', nil for the first rung
	lambda  []float64      // of below; nil where no weight leaves it anything
	gamma   float64
	final   *glm.Weights // the factors of all rows, once they are known
}

// ladder are the rungs of a model with many weights, the simplest first; nil for other models.
func (m *Model) ladder() []problems.Rung {
	if m.spec.Common == nil || !(m.data.LambdaMax() > 0) {
		return nil
	}
	common := func() (problems.Model, error) {
		factors := slices.Repeat([]*glm.Weights{m.spec.Common}, m.data.Folds())
		l := &ladder{full: m, base: m.spec.Common, floor: problems.PilotFloor}
		return m.onRung(&rung{ladder: l, factors: factors}), nil
	}
	return problems.AdaptiveRungs(common, func(below problems.Model, gamma float64, lambda []float64,
		x [][]float64) (problems.Model, error) {
		return below.(*Model).adaptive(gamma, lambda, x), nil
	})
}

// onRung is the model of a rung.
func (m *Model) onRung(r *rung) *Model {
	out := spec{
		Names: []string{"lambda"}, R0: []float64{1}, Set: m.spec.Set, Units: m.spec.Units, Settings: m.spec.Settings,
		Advice: problems.Advice{Separable: m.spec.Advice.Separable},
	}
	if m.spec.Common.L1 != nil {
		out.Names, out.R0 = []string{"l1", "lambda"}, []float64{1, 1}
	}
	for _, l := range m.data.Path(netPoints) {
		out.Path = append(out.Path, slices.Repeat([]float64{l}, len(out.R0)))
	}
	return &Model{data: m.data, spec: out, rung: r}
}

// adaptive is the model of the rung above, with an exponent, and the solution x at the weights lambda for its pilots.
func (m *Model) adaptive(gamma float64, lambda []float64, x [][]float64) *Model {
	l := m.rung.ladder
	return l.full.onRung(&rung{ladder: l, factors: l.adaptedTo(x, gamma), below: m, lambda: lambda, gamma: gamma})
}

// times are the weights of factors at those of their kinds.
func times(f *glm.Weights, lambda []float64) *glm.Weights {
	return f.Times(append(slices.Repeat(lambda[len(lambda)-1:], len(f.Norm)), lambda[0]))
}

// penalties are those of fold t for conic programs.
func (r *rung) penalties(t int, b, radii convex.Expr) []convex.Expr {
	f, norms := r.factors[t], convex.Abs(b)
	if units := r.full.spec.Units; units != nil {
		norms = convex.GroupNorms(b, units)
	}
	weights := slices.Clone(f.Norm)
	for _, u := range r.excluded(t) {
		weights[u] = 0
	}
	var list []convex.Expr
	if f.L1 != nil {
		list = append(list, convex.Sub(convex.Dot(f.L1, convex.Abs(b)), convex.At(radii, 0)))
	}
	return append(list, convex.Sub(convex.Dot(weights, norms), convex.At(radii, radii.Len()-1)))
}

// excluded are the units that fold t leaves out.
func (r *rung) excluded(t int) []int {
	return indices.Where(r.factors[t].Norm, func(f float64) bool { return f == leftOut })
}

// set holds the coefficients of features that fold t leaves out at 0.
func (r *rung) set(m *convex.Model, t int, b convex.Expr) {
	if out := r.excluded(t); len(out) > 0 {
		m.Eq("left out", convex.Pick(b, out), 0)
	}
}

// terms are those of fold t for a fit of single features.
func (r *rung) terms(t int) sparse.Terms {
	out := sparse.Terms{Factors: slices.Clone(r.factors[t].Norm)}
	for _, j := range r.excluded(t) {
		hold(&out, j, 1)
	}
	return out
}

// fit is the fit of all folds, whose rows all rungs have in common; nil where package glm does not know the penalties.
func (r *rung) fit(ctx context.Context) (lower.Fit, error) {
	return r.ladder.fit(ctx, r.dim(), func(t int, lambda []float64) *glm.Weights { return times(r.factors[t], lambda) })
}

// fit is that with dim hyperparameters, which give the weights of each fold.
func (r *ladder) fit(ctx context.Context, dim int, weights func(t int, lambda []float64) *glm.Weights) (lower.Fit,
	error) {
	if r.full.spec.Weights == nil {
		return nil, nil
	}
	r.adapting.Lock()
	defer r.adapting.Unlock()
	data := r.full.data
	if r.folds == nil {
		t, err := data.FoldTable(ctx)
		if err != nil {
			return nil, err
		}
		tables := []*glm.Table{t}
		if t == nil { // a fold is a split
			tables = tables[:0]
			for _, p := range data.parts {
				tables = append(tables, data.partTable(p()))
			}
		}
		for _, t := range tables {
			fit, err := r.full.together(ctx, t)
			if err != nil {
				r.folds = nil
				return nil, err
			}
			r.folds = append(r.folds, fit)
		}
	}
	each := data.Folds() / len(r.folds)
	return lower.OverFolds(len(r.folds), func(k int) (lower.Fit, error) {
		return r.folds[k].With(ctx, dim, func(lambda []float64) (list []*glm.Weights) {
			for t := range each {
				list = append(list, weights(k*each+t, lambda))
			}
			return list
		}), nil
	})
}

// dim is the number of kinds of weights.
func (l *ladder) dim() int {
	if l.base.L1 != nil {
		return 2
	}
	return 1
}

// whole is the rung of all rows, whose pilots are fits of those below to them.
func (r *rung) whole(ctx context.Context, data *data, s problems.Solver) (*rung, error) {
	out := &rung{ladder: r.ladder, below: r.below, lambda: r.lambda, gamma: r.gamma}
	r.adapting.Lock()
	factors := r.final
	r.adapting.Unlock()
	if factors == nil {
		if factors = r.base; r.below != nil && r.lambda != nil {
			m, p, err := r.below.on(ctx, data, s, problems.FinalGap)
			if err != nil {
				return nil, err
			}
			var x [][]float64
			_, err = problems.TrainWeighted(ctx, p, s, r.lambda, func(at [][]float64) problems.Fit {
				x = at
				return m.Fit(at)
			})
			if err != nil {
				return nil, err
			}
			factors = r.adapted(x[0], r.gamma)
		}
		r.adapting.Lock()
		r.final = factors
		r.adapting.Unlock()
	}
	out.factors = []*glm.Weights{factors}
	return out, nil
}

// rows is the fit of a rung of all rows.
func (r *rung) rows(ctx context.Context, data *data) (lower.Fit, error) {
	if r.full.spec.Weights == nil {
		return nil, nil
	}
	r.adapting.Lock()
	defer r.adapting.Unlock()
	if r.all == nil {
		all, err := r.full.together(ctx, data.table(data.parts[0]().fit, nil))
		if err != nil {
			return nil, err
		}
		r.all = all
	}
	return r.all.With(ctx, r.dim(), func(lambda []float64) []*glm.Weights {
		return []*glm.Weights{times(r.factors[0], lambda)}
	}), nil
}

// spread are the weights of the hyperparameters of the model whose rung it is, at those of the rung: of the fit to all
// rows once there is one, else the geometric means of the folds'. A 1-norm with a weight for each feature has their
// geometric mean.
func (m *Model) spread(lambda []float64) (weights, upper []float64) {
	r := m.rung
	r.adapting.Lock()
	list := []*glm.Weights{r.final}
	if r.final == nil {
		list = r.factors
	}
	r.adapting.Unlock()
	out := make([]float64, len(r.full.spec.R0))
	for _, f := range list {
		w := times(f, lambda)
		for u, v := range w.Norm {
			out[u] += math.Log(v) / float64(len(list))
		}
		for _, v := range w.L1 {
			out[len(w.Norm)] += math.Log(v) / float64(len(list)*len(w.L1))
		}
	}
	for i, v := range out {
		out[i] = math.Exp(v)
	}
	return out, nil
}

// compare is by how much losses of the validation rows are larger than others in the mean, and its standard error, row
// by row.
func (m *Model) compare(a, b []float64) (mean, se float64) {
	return problems.Compare(a, b, m.data.valWeights(), m.data.independent(len(a)))
}

// deviations are those of [problems.Advice].
func (m *Model) deviations(lambda []float64) (list []lower.Fit, err error) {
	w, all := times(m.rung.factors[0], lambda), m.data.parts[0]()
	if len(all.choose.Y) < 2 {
		return nil, nil
	}
	for _, step := range []int{1, 2, 2} {
		var rows []int
		for i := len(list) / 2; i < len(all.choose.Y); i += step {
			rows = append(rows, i)
		}
		p := all
		chosen := all.choose.Rows(rows)
		if chosen.Weights != nil && !(floats.Sum(chosen.Weights) > 0) {
			return nil, nil
		}
		p.val = m.data.equal(chosen)
		fit, err := m.data.fit(m.rung.full.spec.Fit, p, m.data.terms)
		if err != nil {
			return nil, err
		}
		list = append(list, fit.(*fits.Net).Times(w))
	}
	return list, nil
}

// times is the rung with its weights multiplied by factors, the last one for those of a 1-norm.
func (m *Model) times(factors []float64) problems.Model {
	r := *m.rung
	r.factors = []*glm.Weights{r.factors[0].Times(factors)}
	return r.full.onRung(&r)
}

// used is the mean number over the folds of features with coefficients at values of the variables.
func (m *Model) used(x [][]float64) float64 {
	used := 0
	for _, v := range of(m.data, x) {
		used += floats.Count(func(b float64) bool { return b != 0 }, v[0])
	}
	return float64(used) / float64(m.data.Folds())
}

// adaptedTo are the factors of the folds of a rung whose pilots have the variables x.
func (l *ladder) adaptedTo(x [][]float64, gamma float64) (list []*glm.Weights) {
	for _, v := range of(l.full.data, x) {
		list = append(list, l.adapted(v[0], gamma))
	}
	return list
}

// adapted are the factors of a rung whose pilot has the coefficients b.
func (l *ladder) adapted(b []float64, gamma float64) *glm.Weights {
	units, sizes := l.full.spec.Units, make([]float64, len(l.base.Norm))
	for u := range sizes {
		if units == nil {
			sizes[u] = math.Abs(b[u])
			continue
		}
		for _, j := range units[u] {
			sizes[u] += b[j] * b[j] / float64(len(units[u]))
		}
		sizes[u] = math.Sqrt(sizes[u])
	}
	out := &glm.Weights{Norm: l.inverse(l.base.Norm, sizes, gamma)}
	if l.base.L1 != nil {
		each := make([]float64, len(b))
		for j, v := range b {
			each[j] = math.Abs(v)
		}
		out.L1 = l.inverse(l.base.L1, each, gamma)
	}
	return out
}

// leftOut is the factor of what is left out, which no weight lets in.
const leftOut = 1e30

// inverse are factors times powers of the sizes of pilots, beside the largest one; the factors themselves where there
// is no pilot. What has so small a pilot that its factor would be more than [excludedFactor] is left out.
func (l *ladder) inverse(factors, sizes []float64, gamma float64) []float64 {
	out := slices.Clone(factors)
	for u, power := range problems.Powers(sizes, gamma, l.floor) {
		if out[u] *= power; power > excludedFactor {
			out[u] = leftOut
		}
	}
	return out
}
