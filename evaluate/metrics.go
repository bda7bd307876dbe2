// Package evaluate says how good predictions are, with standard errors, in the measures that statisticians use.
//
// A measure is a mean over rows or a smooth function of such means. Its standard error is the standard deviation of
// what a row contributes to it, to first order (the delta method), over the root of the number of rows; that of the
// area under the ROC curve is DeLong's (DeLong, DeLong, Clarke-Pearson, Biometrics 44, 1988). Predictions of the same
// row by several repeats of a cross-validation are contributions of one row. What the fits of folds have in common is
// not counted.
package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/internal/finitejson"
	"github.com/conetune/conetune/problems"
)

// Names of the measures.
const (
	R2                = "r2"
	RMSE              = "rmse"
	MAE               = "mae"
	LogLoss           = "log_loss"
	Brier             = "brier"
	AUC               = "auc"
	ErrorRate         = "error_rate"
	AveragePrecision  = "average_precision"
	BalancedError     = "balanced_error"
	F1                = "f1"
	Cost              = "cost"
	Deviance          = "deviance"
	DevianceExplained = "deviance_explained"
	Pinball           = "pinball"
	Coverage          = "coverage"
	Concordance       = "concordance"
	PartialDeviance   = "partial_deviance"
)

// Metric is a measure with its standard error; Base is the same measure without any feature, and Plain that of the fit
// without penalty. What cannot be computed from the rows, such as the share of a variance that is 0, is NaN, in JSON
// null.
type Metric struct {
	Name          string  `json:"-"`
	Value         float64 `json:"value"`
	StandardError float64 `json:"standard_error"`
	Base          float64 `json:"baseline"`
	Plain         float64 `json:"without_penalty"`
}

// MarshalJSON writes null for numbers that are not finite.
func (m Metric) MarshalJSON() ([]byte, error) {
	type fields Metric
	return finitejson.Marshal(fields(m))
}

// Sample are n predictions with what came true.
type Sample struct {
	// Y are the targets; of a classifier 1 for its second label and 0 for the first.
	Y []float64
	// Value are the predictions in the unit of the target; of a classifier the values whose sign is the label, and of
	// counts the means.
	Value []float64
	// Base are the predictions without any feature: the mean of the training rows, of a classifier the share of the
	// second label.
	Base []float64
	// Plain are those of the fit without penalty, as Value; nil for none.
	Plain []float64
	// Row says which predictions are of the same row; nil for each of a row of its own.
	Row []int
	// Weight are the weights of the rows in means; nil for equal ones.
	Weight []float64

	// The rest is what a [Judge] says of the predictions.

	Target  string // the name, where it is one of several
	On      string // which rows: [OnTest], [OnFolds] or [OnValidation]
	Entries bool   // of a matrix, not rows
	Rows    int    // distinct ones
	Metrics []Metric
	// Folds are the fits of folds, nil without; Fit is the refit.
	Folds []problems.Fit
	Fit   problems.Fit
	// Probability are those of the labels, and Share those of the training rows, of a model with a value for each
	// label, whose Y are their numbers.
	Probability, Share [][]float64
	// Decisions are those of a classifier, whose rows are called positive above the thresholds Cut of their scores, nil
	// for even odds; Threshold is that of new rows.
	Decisions
	Cut       []float64
	Threshold float64
	// WhyNotPlain says why there are no predictions without penalty, where there could be some.
	WhyNotPlain error
	// Ends are where the rows of each part end, of a model of times, whose Y are negative where these are censored.
	Ends []int

	losses losses
}

// loss is that of a prediction of y.
type loss func(y, prediction float64) float64

func squared(y, f float64) float64  { return square(y - f) }
func absolute(y, f float64) float64 { return math.Abs(y - f) }

// Regression are the measures of predictions of a mean: R^2 against the mean of these rows, root mean squared error,
// mean absolute error.
func (s *Sample) Regression() []Metric {
	return []Metric{s.explained(R2, squared), s.root(RMSE, squared), s.mean(MAE, absolute, absolute)}
}

// Counts are the measures of predictions of means of counts: the share of the Poisson deviance that they explain,
// against the mean of these rows, the mean deviance, and the mean absolute error.
func (s *Sample) Counts() []Metric {
	of := func(y, f float64) float64 {
		if f == 0 && y == 0 {
			return 0
		}
		return 2 * deviance.HalfPoisson(y, f, math.Log(f))
	}
	return []Metric{s.explained(DevianceExplained, of), s.mean(Deviance, of, of), s.mean(MAE, absolute, absolute)}
}

// Quantile are the measures of predictions of a quantile of some level: the mean pinball loss, and the share of targets
// at or below the predictions, which is the level where they are right.
func (s *Sample) Quantile(level float64) []Metric {
	pinball := func(y, f float64) float64 { return max(level*(y-f), (level-1)*(y-f)) }
	covered := func(y, f float64) float64 { return indicator(y <= f) }
	return []Metric{s.mean(Pinball, pinball, pinball), s.mean(Coverage, covered, covered)}
}

// Labels are the measures of a classifier: the share of wrong labels, the area under the ROC curve and, where its
// values are log odds, log loss and Brier score, the mean square of probability minus outcome.
func (s *Sample) Labels(logOdds bool) []Metric {
	wrong := func(above float64) loss {
		return func(y, f float64) float64 { return indicator(f > above != (y == 1)) }
	}
	plain := s.plain(wrong(0))
	if s.Cut != nil { // which is not at its threshold
		plain = math.NaN()
	}
	out := []Metric{s.meanOf(ErrorRate, s.each(s.wrong), s.at(wrong(0.5), s.Base), plain), s.area()}
	if !logOdds {
		return out
	}
	return append(out,
		s.mean(LogLoss, func(y, f float64) float64 { return Softplus((1 - 2*y) * f) },
			func(y, p float64) float64 { return -math.Log(1 - math.Abs(y-p)) }),
		s.mean(Brier, func(y, f float64) float64 { return square(y - Probability(f)) }, squared))
}

// Probability is that of log odds.
func Probability(logOdds float64) float64 { return 1 / (1 + math.Exp(-logOdds)) }

// Softplus is log(1 + exp(v)).
func Softplus(v float64) float64 { return math.Max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }

func square(v float64) float64 { return v * v }

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (s *Sample) each(f func(i int) float64) []float64 {
	out := make([]float64, len(s.Y))
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// at are the losses of predictions.
func (s *Sample) at(l loss, f []float64) []float64 {
	return s.each(func(i int) float64 { return l(s.Y[i], f[i]) })
}

// average is the mean over the rows by their weights.
func (s *Sample) average(v []float64) float64 {
	if s.Weight != nil {
		return stat.Mean(v, s.Weight)
	}
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

// plain is the mean loss of the fit without penalty, NaN without one.
func (s *Sample) plain(l loss) float64 {
	if s.Plain == nil {
		return math.NaN()
	}
	return s.average(s.at(l, s.Plain))
}

// mean is the metric of a loss; that of predictions without features may be another one.
func (s *Sample) mean(name string, l, base loss) Metric {
	return s.meanOf(name, s.at(l, s.Value), s.at(base, s.Base), s.plain(l))
}

// meanOf is the metric of losses.
func (s *Sample) meanOf(name string, at, base []float64, plain float64) Metric {
	m := s.average(at)
	return Metric{name, m, s.error(s.each(func(i int) float64 { return at[i] - m }), nil), s.average(base), plain}
}

// root is the root of the mean: a row contributes (l - m) / (2 sqrt m).
func (s *Sample) root(name string, l loss) Metric {
	at := s.at(l, s.Value)
	m := s.average(at)
	root := math.Sqrt(m)
	contributes := func(i int) float64 {
		if m == 0 {
			return 0
		}
		return (at[i] - m) / (2 * root)
	}
	return Metric{name, root, s.error(s.each(contributes), nil), math.Sqrt(s.average(s.at(l, s.Base))),
		math.Sqrt(s.plain(l))}
}

// explained is the share 1 - mean(l) / mean(total), with the losses of the mean of the targets in total, of which a row
// contributes -(l - mean(l)/mean(total) total) / mean(total). That mean does not vary to first order, as it minimises
// the total.
func (s *Sample) explained(name string, l loss) Metric {
	total := s.at(l, slices.Repeat([]float64{s.average(s.Y)}, len(s.Y)))
	whole := s.average(total)
	if !(whole > 0) || slices.Min(s.Y) == slices.Max(s.Y) { // where rounding may leave some of it
		return Metric{name, math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	at := s.at(l, s.Value)
	rest := s.average(at) / whole
	error := s.error(s.each(func(i int) float64 { return (at[i] - rest*total[i]) / whole }), nil)
	return Metric{name, 1 - rest, error, 1 - s.average(s.at(l, s.Base))/whole, 1 - s.plain(l)/whole}
}

// area is the area under the ROC curve: the share of pairs of rows of both labels, by the products of their weights,
// whose values are in the order of the labels, ties half.
func (s *Sample) area() Metric {
	m := s.areaOf(s.Value)
	if m.Plain = math.NaN(); s.Plain != nil {
		m.Plain = s.areaOf(s.Plain).Value
	}
	return m
}

// areaOf is that of some values.
func (s *Sample) areaOf(value []float64) Metric {
	var number [2]float64 // of the rows of both labels, by weight
	for i, y := range s.Y {
		number[int(y)] += s.weight(i)
	}
	if number[0] == 0 || number[1] == 0 {
		return Metric{Name: AUC, Value: math.NaN(), StandardError: math.NaN(), Base: 0.5}
	}
	// placement is the share of the rows of the other label that are on the right side of a row.
	placement := make([]float64, len(s.Y))
	var below [2]float64
	for _, rows := range slices.Backward(s.tiedBy(func(i int) float64 { return value[i] })) {
		var tied [2]float64
		for _, i := range rows {
			tied[int(s.Y[i])] += s.weight(i)
		}
		for _, i := range rows {
			if s.Y[i] == 1 {
				placement[i] = (below[0] + tied[0]/2) / number[0]
			} else {
				placement[i] = 1 - (below[1]+tied[1]/2)/number[1]
			}
		}
		below[0], below[1] = below[0]+tied[0], below[1]+tied[1]
	}
	area := 0.0
	for i, y := range s.Y {
		area += y * s.weight(i) * placement[i] / number[1]
	}
	n := number[0] + number[1]
	contributes := s.each(func(i int) float64 { return (placement[i] - area) * n / number[int(s.Y[i])] })
	return Metric{Name: AUC, Value: area, StandardError: s.error(contributes, func(i int) int { return int(s.Y[i]) }),
		Base: 0.5}
}

// weight is that of row i.
func (s *Sample) weight(i int) float64 {
	if s.Weight == nil {
		return 1
	}
	return s.Weight[i]
}

// error is the standard error of a mean of contributions, which sum to 0 over the rows of each class; nil for one
// class. It is NaN where a class has one row.
func (s *Sample) error(contributions []float64, class func(i int) int) float64 {
	share := 1.0
	if s.Weight != nil {
		share = float64(len(s.Weight)) / floats.Sum(s.Weight)
	}
	if class == nil {
		class = func(int) int { return 0 }
	}
	row := func(i int) int { return i }
	if s.Row != nil {
		row = func(i int) int { return s.Row[i] }
	}
	rows, classes := 0, 0
	for i := range contributions {
		rows, classes = max(rows, row(i)+1), max(classes, class(i)+1)
	}
	sums, seen := make([]float64, rows*classes), make([]bool, rows*classes)
	number, order := make([]float64, classes), make([]int, 0, len(contributions))
	for i, c := range contributions {
		if s.Weight != nil {
			c *= s.Weight[i] * share
		}
		at := row(i)*classes + class(i)
		if !seen[at] {
			seen[at], order = true, append(order, at)
			number[at%classes]++
		}
		sums[at] += c
	}
	variance := 0.0
	for _, at := range order {
		n := number[at%classes]
		variance += square(sums[at]) * n / (n - 1)
	}
	return math.Sqrt(variance) / float64(len(contributions))
}

// Classes are the measures of a classifier of several classes, whose Y are their numbers: the share of wrong classes
// and the log loss, the mean of minus the logarithm of the probability of what came true. probability are those that
// were predicted for each row, base those without any feature.
func (s *Sample) Classes(probability, base [][]float64) []Metric {
	wrong := func(p [][]float64) []float64 {
		return s.each(func(i int) float64 { return indicator(floats.MaxIdx(p[i]) != int(s.Y[i])) })
	}
	logLoss := func(p [][]float64) []float64 {
		return s.each(func(i int) float64 { return -math.Log(p[i][int(s.Y[i])]) })
	}
	at := wrong(probability)
	if s.Cut != nil {
		at = s.each(s.wrong)
	}
	return []Metric{s.meanOf(ErrorRate, at, wrong(base), math.NaN()),
		s.meanOf(LogLoss, logLoss(probability), logLoss(base), math.NaN())}
}

// Softmax are the probabilities that go with the exponentials of some values.
func Softmax(values []float64) []float64 {
	out, total := make([]float64, len(values)), floats.LogSumExp(values)
	for k, v := range values {
		out[k] = math.Exp(v - total)
	}
	return out
}
