package regression

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Penalties are those of a [Net].
type Penalties int

// The penalties: |b|_1 and 1/2 |b|^2, or one of them.
const (
	Both Penalties = iota
	Norm1Alone
	SquaresAlone
)

// Net describes a relative of the elastic net, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2, b within bounds }
//
// or the same with one of the penalties, by its name on the command line, what it does to rows, and its penalties.
type Net struct {
	Name string
	// Loss is the loss of predictions.
	Loss      Loss
	Penalties Penalties
	// KeepTarget leaves the targets as they are, whatever is done to the features, for targets that stand for labels or
	// counts. Else an offset of rows is taken from their targets, and the loss must depend on the difference of target and
	// prediction alone.
	KeepTarget bool
	// Weighing says that the fits of the model take rows with weights as they are, see [fits.Rows].
	Weighing bool
	// Takes are the fields of [Options] that the model takes beside those of all: Terms where its fit knows them.
	Takes []string
	// Fit makes the fast fit to the training rows of a split or a fold, with the loss on its validation rows and terms of
	// features, all in the unit of the model; nil where there is none. Advice.Modes says how it can be differentiated.
	Fit fitter
	// Advice is what the model says beyond what all of them do.
	Advice problems.Advice
	// Finish completes a predictor in the user's units, for example by labels; nil where it is complete.
	Finish func(f *problems.Fit)

	// outputs are the names of the outputs of a model with several, which has coefficients and a constant for each: entry
	// (j, k) of feature j and output k at j K + k. Nil for one.
	outputs []string
	// several says that these are the targets of the rows.
	several bool
	// noConstant says that there is no constant, though features are centred as with one, as none would change the loss.
	noConstant bool
	// rise, if positive, has the path go down twice, as for many features, and is its [dca.Program].PathRise.
	rise int
	// spec, if not nil, are the penalties, their path and what else there is in the place of the net's.
	spec func(d *data) (spec, error)
}

// normModes are the modes of fits of nets, and of norms of single features.
var normModes = []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}

// NewNet checks the rows, split or in folds, and the options, and puts the model together. It keeps a reference to the
// data, which must not change. Errors begin with its name.
func NewNet(s dataset.Division, o Options, n Net) (*Model, error) {
	return checked(n.Name, s, func() (*Model, error) { return n.model(s, o) })
}

// checked is a model of rows that it checks first; errors begin with its name.
func checked(name string, s dataset.Division, of func() (*Model, error)) (m *Model, err error) {
	if s == nil {
		return nil, fmt.Errorf("%s: no data", name)
	}
	if err = s.Validate(); err == nil {
		m, err = of()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// model is that of checked rows.
func (n *Net) model(s dataset.Division, o Options) (*Model, error) {
	data, err := newData(s, o, *n)
	if err != nil {
		return nil, err
	}
	m := &Model{data: data}
	if m.spec, err = n.describe(data); err == nil {
		m.spec.complete(data)
	}
	return m, err
}

// describe makes the description of the model, for data whose [data.LambdaMax] is measured by the fit where that has to
// know terms, weights or an offset, or where the loss has no slope.
func (n *Net) describe(data *data) (out spec, err error) {
	if n.spec != nil {
		return n.spec(data)
	}
	out = spec{
		Names: []string{"lambda1", "lambda2"}, R0: []float64{10, 5}, Fit: n.Fit, Advice: n.Advice,
		AllFeatures: n.Penalties == SquaresAlone,
	}
	if n.Fit != nil && (data.loss.Slope == nil || !data.terms.Plain() || data.observes()) {
		if err := data.Measure(n.Fit); err != nil {
			return out, err
		}
	}
	if n.Fit == nil && data.loss.Slope == nil {
		return out, fmt.Errorf("%s: Net has neither a Fit nor a Loss.Slope", n.Name)
	}
	first, second := 0, 1 // the places of the weights
	switch n.Penalties {
	case Norm1Alone:
		second, out.R0, out.Path = -1, out.R0[:1], single(data.Path(longPath))
	case SquaresAlone:
		first, second, out.R0, out.Path = -1, 0, out.R0[1:], single(squaresPath(data))
	default:
		out.Path, out.PathRise = netPath(data, n.rise)
	}
	if n.Penalties != Both {
		out.Names = []string{"lambda"}
	}
	out.Penalties = data.Shared(first, second)
	if data.squares() || data.loss.Engine != nil {
		out.Weights = data.SharedWeights(first, second)
	}
	return out, nil
}

// netSettings are those of the paper's experiments with the elastic net, and ours: a start from a path, where there is
// one, and a lower-level gap that is closed, so that the iterate and the refit agree. rho is not in the paper but in
// its authors' program.
func netSettings(path bool) (paper, standard dca.Settings) {
	paper = dca.Settings{Tol: 0.1, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100}
	standard = paper
	standard.GapTol, standard.MaxIter, standard.PathStart = 1e-4, 200, path
	return paper, standard
}

// netPoints is the length of each path of two weights, longPath that of one.
const netPoints, longPath = 10, 20

// manyFeatures is the number of features from which on fits with many coefficients in use take so long that the path
// keeps away from them: it goes down twice, and each time no farther than pathRise points beyond the best one.
const manyFeatures, pathRise = 2000, 2

// netPath goes down with both weights equal, up again with almost no l2 weight, and down once more with the least l1
// weight: the validation error often has a minimum near each end.
func netPath(data *data, rise int) (path [][]float64, most int) {
	if _, p := data.Dims(); rise == 0 && p > manyFeatures {
		rise = pathRise
	}
	if rise > 0 {
		for _, share := range []float64{1, 0.01} { // with both equal, and with almost no l2 weight
			for _, l := range data.Path(netPoints) {
				path = append(path, []float64{l, share * l})
			}
		}
		return path, rise
	}
	down := data.Path(netPoints)
	for _, l := range down {
		path = append(path, []float64{l, l})
	}
	for _, l := range slices.Backward(down) {
		path = append(path, []float64{l, l / 100})
	}
	for _, l := range down[:min(len(down), netPoints/2)] {
		path = append(path, []float64{down[len(down)-1], l})
	}
	return path, 0
}

// squaresRatio is how far the path of squares alone goes: from a hundred times the least weight of the 1-norm at which
// nothing is left. Squares leave all coefficients, and weights far larger than that may be the best ones.
const squaresRatio = 1e6

func squaresPath(data *data) (list []float64) {
	top := data.LambdaMax()
	if !(top > 0) {
		return nil
	}
	for i := range longPath {
		list = append(list, top*100*math.Pow(squaresRatio, -float64(i)/(longPath-1)))
	}
	return list
}

// single are points of one weight.
func single(path []float64) (list [][]float64) {
	for _, l := range path {
		list = append(list, []float64{l})
	}
	return list
}
