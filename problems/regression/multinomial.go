package regression

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Multinomial is a multinomial logistic regression, an elastic net for a target of several classes. With K classes,
// coefficients B (p x K, entry (j, k) at j K + k) and intercepts c, a row a of class y costs minus the logarithm of its
// estimated probability,
//
//	log(sum_k exp(f_k)) - f_y,   f_k = a'B_k + c_k,
//
// and the losses L on validation and l on training rows are means of that. The bilevel program is
//
//	minimize   L(B)   over B and r >= 0
//	subject to B solves  min { l(B) : sum_jk |b_jk| <= r1, 1/2 sum_jk b_jk^2 <= r2 }
//
// (J. Friedman, T. Hastie, R. Tibshirani, Regularization paths for generalized linear models via coordinate descent,
// JSS 33, 2010, for the penalty form). All classes have coefficients, none is the reference; intercepts are not
// penalised and add up to 0. The class with the largest f_k is predicted. Errors are mean losses. A backend needs
// exponential cones. The [Terms] of a feature are those of all classes; the coefficients of one without a penalty and
// bounds add up to 0 over the classes. Each class needs a training row, in each fold, and the others may have no other
// one.
func Multinomial(s dataset.Division, o Options) (*Model, error) {
	return checked("multinomial", s, func() (*Model, error) {
		classes, err := dataset.CheckClasses(s, dataset.MostClasses)
		if err != nil {
			return nil, err
		}
		if dataset.WithoutOffset(s) != s {
			return nil, errors.New("rows with an offset, which does not say to which class it belongs")
		}
		var names []string
		for _, v := range classes {
			if o.Label != nil {
				names = append(names, o.Label(v))
			} else {
				names = append(names, fmt.Sprint(v))
			}
		}
		coded := s.Map(func(y float64) float64 { // the number of the class
			k, _ := slices.BinarySearch(classes, y)
			return float64(k)
		})
		n := Net{
			Name: "multinomial", Loss: multinomialLoss(len(classes)), KeepTarget: true, Takes: []string{"Terms", "Label"},
			Fit: func(train, val fits.Rows, intercept bool, t sparse.Terms) (lower.Fit, error) {
				return either(fits.NewMultinomial(train, val, len(classes), intercept, t))
			},
			Advice: problems.Advice{Separable: true}, Finish: func(f *problems.Fit) { f.Labels = classes },
			outputs: names, rise: 2 * netPoints, // all of them
		}
		m, err := n.model(coded, o)
		if err == nil {
			m.spec.Set = func(model *convex.Model, x []*convex.Variable) { zeroSums(model, m.data.terms, len(classes), x) }
		}
		return m, err
	})
}

// zeroSums say that constants add up to 0 over the k classes, and so do coefficients of a feature without a penalty and
// bounds, which nothing else determines.
func zeroSums(m *convex.Model, t sparse.Terms, k int, x []*convex.Variable) {
	b := x[0]
	for j, f := range t.Factors {
		if f > 0 || t.Lower != nil && !math.IsInf(t.Lower[j], -1) || t.Upper != nil && !math.IsInf(t.Upper[j], 1) {
			continue
		}
		m.Eq("zero sum", convex.Sum(convex.Slice(b, j*k, (j+1)*k)), 0)
	}
	if len(x) > 1 {
		m.Eq("zero sum", convex.Sum(x[1]), 0)
	}
}

// multinomialLoss is minus the logarithm of the probability of the class, whose number the target is.
func multinomialLoss(classes int) Loss {
	return Loss{
		Sum: func(f convex.Expr, y, weights []float64, _ float64) convex.Expr {
			n := len(y)
			own, groups := make([]float64, classes*n), make([][]int, n)
			for i, class := range y {
				if own[int(class)*n+i] = -1; weights != nil {
					own[int(class)*n+i] = -weights[i]
				}
				for c := range classes {
					groups[i] = append(groups[i], c*n+i)
				}
			}
			return convex.Add(total(convex.LogSumExp(f, groups...), weights), convex.Dot(own, f))
		},
		Value: func(f, y []float64, _ float64) float64 { return floats.LogSumExp(f) - f[int(y[0])] },
	}
}
