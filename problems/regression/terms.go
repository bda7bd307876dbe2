package regression

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// Terms are what a model says of single features. The zero value says nothing. Each slice is nil, or has one entry for
// each feature or one for all.
type Terms struct {
	// Factors multiply the penalties of a feature, in the unit of the model, so that |b|_1 becomes sum_j f_j |b_j|, and
	// 1/2 |b|^2 becomes 1/2 sum_j f_j b_j^2; nil for 1. A feature with the factor 0 is not penalised. They are taken as
	// they are, and not brought to a mean of 1. A factor of more than 1e6, and 1e6 times the least positive one, leaves
	// its feature out: the coefficient is 0 whatever the weights.
	Factors []float64
	// Lower and Upper bound the coefficients in the user's units, Lower <= 0 <= Upper; entries may be infinite, and nil is
	// no bound. The bounds hold for the iterate as for the refit.
	Lower, Upper []float64
}

// spread brings them to the p features and the unit of the model.
func (t Terms) spread(d *data) (out sparse.Terms, err error) {
	_, p := d.Dims()
	for _, of := range []struct {
		name, wrong string
		from        []float64
		to          *[]float64
		good        func(v float64) bool
		scaled      bool
	}{
		{"penalty factor", "expected a finite number that is not negative", t.Factors, &out.Factors,
			func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }, false},
		{"lower bound", "which leaves no room for 0", t.Lower, &out.Lower, func(v float64) bool { return v <= 0 }, true},
		{"upper bound", "which leaves no room for 0", t.Upper, &out.Upper, func(v float64) bool { return v >= 0 }, true},
	} {
		if of.from == nil {
			continue
		}
		if len(of.from) != 1 && len(of.from) != p {
			return out, fmt.Errorf("%d %ss, expected one or %d", len(of.from), of.name, p)
		}
		*of.to = make([]float64, p)
		for j := range p {
			v := of.from[min(j, len(of.from)-1)]
			if !of.good(v) {
				return out, fmt.Errorf("%s of %q is %v, %s", of.name, d.Features()[j], v, of.wrong)
			}
			if of.scaled {
				v /= d.Unit(j)
			}
			(*of.to)[j] = v
		}
	}
	some := slices.ContainsFunc(out.Factors, func(v float64) bool { return v > 0 })
	if out.Factors != nil && p > 0 && !some {
		return out, fmt.Errorf("all penalty factors are 0, which leaves nothing to choose")
	}
	exclude(&out)
	return out, nil
}

// excludedFactor is the factor, and the multiple of the least positive one, above which a feature is left out: programs
// with such numbers in them are not solved to any accuracy. A factor of 1 beside tiny ones excludes nothing.
const excludedFactor = 1e6

// exclude holds the coefficients of features with excluding factors at 0, in the place of these factors.
func exclude(t *sparse.Terms) {
	least := math.Inf(1)
	for _, f := range t.Factors {
		if f > 0 {
			least = math.Min(least, f)
		}
	}
	for j, f := range t.Factors {
		if !(f > excludedFactor && f > excludedFactor*least) {
			continue
		}
		hold(t, j, least)
	}
}

// hold holds the coefficient of feature j at 0, with a factor that does not matter.
func hold(t *sparse.Terms, j int, factor float64) {
	if t.Lower == nil {
		t.Lower = slices.Repeat([]float64{math.Inf(-1)}, len(t.Factors))
	}
	if t.Upper == nil {
		t.Upper = slices.Repeat([]float64{math.Inf(1)}, len(t.Factors))
	}
	t.Factors[j], t.Lower[j], t.Upper[j] = factor, 0, 0
}

// fitter makes a fit to the training rows of a split or a fold, with the loss on its validation rows and terms of
// features, all in the unit of the model.
type fitter func(train, val fits.Rows, intercept bool, t sparse.Terms) (lower.Fit, error)

// making is the [fitter] of fits of a type.
func making[T lower.Fit](of func(train, val fits.Rows, intercept bool, t sparse.Terms) (T, error)) fitter {
	return func(train, val fits.Rows, intercept bool, t sparse.Terms) (lower.Fit, error) {
		return either(of(train, val, intercept, t))
	}
}

// either is a fit or an error, not both.
func either[T lower.Fit](fit T, err error) (lower.Fit, error) {
	if err != nil {
		return nil, err
	}
	return fit, nil
}

// Measure makes the LambdaMax of a fit, the largest of the folds, that of the data.
func (d *data) Measure(fit fitter) error {
	top := 0.0
	for _, p := range d.parts {
		f, err := d.fit(fit, p(), d.terms)
		if err != nil {
			return err
		}
		top = math.Max(top, f.LambdaMax())
	}
	d.SetLambdaMax(top)
	return nil
}

// SetLambdaMax says what [data.LambdaMax] is.
func (d *data) SetLambdaMax(top float64) { d.top = func() float64 { return top } }

// Shared are the penalties |b|_1 and 1/2 |b|^2, by the factors, less their radii, which have those numbers, -1 for
// none.
func (d *data) Shared(first, second int) func(b, r convex.Expr) []convex.Expr {
	return func(b, r convex.Expr) (list []convex.Expr) {
		if first >= 0 {
			list = append(list, convex.Sub(convex.Norm1(d.penalised(b, func(f float64) float64 { return f })),
				convex.At(r, first)))
		}
		if second >= 0 {
			list = append(list, convex.Sub(convex.Scale(0.5, convex.SumSquares(d.penalised(b, math.Sqrt))),
				convex.At(r, second)))
		}
		return list
	}
}

// SharedWeights are the weights of |b|_1 and 1/2 |b|^2, by the factors, where these are the hyperparameters of those
// numbers, -1 for none.
func (d *data) SharedWeights(first, second int) func(lambda []float64) *glm.Weights {
	_, p := d.Dims()
	of := func(v float64) []float64 {
		out := slices.Repeat([]float64{v}, p)
		if f := d.terms.Factors; f != nil {
			floats.Mul(out, f)
		}
		return out
	}
	return func(lambda []float64) *glm.Weights {
		w := &glm.Weights{Norm: make([]float64, p)}
		if first >= 0 {
			w.Norm = of(lambda[first])
		}
		if second >= 0 {
			w.L2 = of(lambda[second])
		}
		return w
	}
}

// penalised are the coefficients of penalised features, times a function of the factors.
func (d *data) penalised(b convex.Expr, of func(f float64) float64) convex.Expr {
	if d.terms.Factors == nil {
		return b
	}
	var at []int
	var factors []float64
	for j, f := range d.terms.Factors {
		for k := range d.outputs {
			if f > 0 {
				at, factors = append(at, j*d.outputs+k), append(factors, of(f))
			}
		}
	}
	return convex.Mul(mat.NewDiagDense(len(at), factors), convex.Pick(b, at))
}

// bounds are those of the coefficients as constraints.
func (d *data) bounds(m *convex.Model, b convex.Expr) {
	var fixed []int
	held := func(j int) bool {
		return d.terms.Lower != nil && d.terms.Upper != nil && d.terms.Lower[j] == 0 && d.terms.Upper[j] == 0
	}
	for j := range d.Features() {
		if held(j) {
			fixed = append(fixed, j)
		}
	}
	finite := func(list []float64) (at []int) {
		for j, v := range list {
			if !math.IsInf(v, 0) && !held(j) {
				at = append(at, j)
			}
		}
		return at
	}
	low, high := finite(d.terms.Lower), finite(d.terms.Upper)
	for k := range d.outputs {
		own := d.ofOutput(b, k)
		if len(fixed) > 0 {
			m.Eq("fixed", convex.Pick(own, fixed), 0)
		}
		if len(low) > 0 {
			m.Ge("lower", convex.Pick(own, low), indices.Pick(d.terms.Lower, low))
		}
		if len(high) > 0 {
			m.Le("upper", convex.Pick(own, high), indices.Pick(d.terms.Upper, high))
		}
	}
}
