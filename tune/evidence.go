package tune

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/dca"
)

// What the validation rows of a split can tell.
//
// With few validation rows the least of many validation errors is as much a matter of chance as of the hyperparameters, and the harder it is looked
// for, the more. Where there are more features than training rows, so that small weights fit anything, VF-iDCA by default weighs an [Evident] model's rows:
//
//   - Its start is the point of the path that maximises
//
//     log likelihood + 1/2 log w,
//
//     with w the largest weight: the most probable one if root w is as likely to be anywhere between zero and its largest value, where the least
//     validation error is the most probable one if log w is. With n rows, half the weight has to lower the validation error by log(2)/n.
//   - Where there is a radius for each group, so that iterations lower the losses of all rows whether or not there is something to find, nothing at all
//     is a candidate as well, with the weight from which on all coefficients are zero.
//   - A step to other hyperparameters is taken only where it lowers the losses of the rows, compared row by row, by more than
//     the standard error of the mean of these n differences.
//   - The multipliers and not the radii are what is selected, unless there are five or more training rows to each coefficient in use: the final training
//     has more rows than the lower level, with which the norms of fits grow that the rows hold back, and as losses are means over rows, weights keep their meaning.
//
// With many validation rows, the first two say nothing. With fewer features than training rows both cost more than they gain: on splits of 32 real tables
// test errors were 4 % higher, half of it by the weights. Folds, which weigh every row once, are chosen in the way of common.go.

// stoppedByEvidence is the message of a run that ended where a step was within its standard error.
const stoppedByEvidence = "stopped where the validation rows cannot tell the next step from chance; Config.StopFolds 1 goes on"

// nothingFound is the message where no coefficient is better than any.
const nothingFound = "nothing selected: the validation rows do not tell any solution from the one without coefficients; Config.StopFolds 1 selects all the same"

// evidence is a run's, nil where the model has none or the configuration asks for something else.
type evidence struct {
	model   Evident
	stopped bool
}

func (t *Task) evidence() *evidence {
	m, ok := t.Model.(Evident)
	if !ok || t.byWeights() || t.asked() || t.Program.Radii != len(t.Program.H0) {
		return nil
	}
	rows, features := m.Training()
	if features <= rows {
		return nil
	}
	return &evidence{model: m}
}

// asked says that the configuration says how far VF-iDCA goes, or where from.
func (t *Task) asked() bool {
	return t.Config.asks() || t.Start != nil
}

// asks is asked without a start of the task.
func (c *Config) asks() bool {
	return c.StopFolds != 0 || c.Preset == PresetPaper || c.GapTol > 0 || c.MaxIter > 0 || c.Init != nil
}

// leastAlpha is the least penalty of the first iteration. With the paper's, 1, the steps from a point of the path go to radii next to zero, where
// the lower level takes longest, and are not taken; from 100 on they stay where validation rows can compare.
const leastAlpha = 100

// aboveAll times the first weight of a path, which is half the least one at which an l1 norm leaves no coefficient, is above it.
const aboveAll = 2.01

// weigh puts the rules into the settings of a run and its program.
func (e *evidence) weigh(s *dca.Settings, p *dca.Program, cautious bool) {
	if e == nil {
		return
	}
	s.Alpha0 = math.Max(s.Alpha0, leastAlpha)
	if p.Anchor == nil { // else the start is drawn to where it says
		s.PathScore = func(weights []float64, validation float64) float64 {
			return -e.model.LogLikelihood(validation) - math.Log(slices.Max(weights))/2
		}
		if cautious && len(p.Path) > 0 {
			top := aboveAll * slices.Max(p.Path[0])
			if p.Fit != nil {
				top = math.Max(top, p.Fit.Fit().LambdaMax())
			}
			p.Path = slices.Insert(slices.Clone(p.Path), 0, slices.Repeat([]float64{top}, len(p.Path[0])))
		}
	}
	s.Worth = func(from, to [][]float64) bool {
		worth := told(e.model.ValidationLosses(from), e.model.ValidationLosses(to))
		e.stopped = e.stopped || !worth
		return worth
	}
}

// told says whether the mean of the first losses is larger than that of the second by more than the standard error of the difference.
func told(from, to []float64) bool {
	gains := make([]float64, len(from))
	for i := range gains {
		gains[i] = from[i] - to[i]
	}
	mean, sd := stat.MeanStdDev(gains, nil)
	return !(mean <= sd/math.Sqrt(float64(len(gains)))) // a single row, whose deviation is NaN, tells
}

// conclude makes the multipliers of a result the selection, and says why the run ended.
func (e *evidence) conclude(out *Result, r *dca.Result) {
	if e == nil || out.Selection == nil {
		return
	}
	if r.Nothing {
		out.Message = nothingFound
	}
	if e.stopped && out.Status == dca.Converged {
		out.say(stoppedByEvidence)
	}
	if !out.LeastNorm && slices.Max(out.Selection.Lambda) > 0 && e.crowded(out.Selection.X) {
		out.Selection.Weighted = true
	}
}

// crowd is the number of training rows to a coefficient above which the norms of a fit do not grow with the rows any more.
const crowd = 5

// crowded says whether a solution uses so many coefficients that its norms grow with the rows.
func (e *evidence) crowded(x [][]float64) bool {
	rows, _ := e.model.Training()
	used, least := 0, inUse*floats.Norm(x[0], math.Inf(1))
	for _, v := range x[0] {
		if math.Abs(v) > least {
			used++
		}
	}
	return crowd*used > rows
}

// inUse is the share of the largest coefficient up to which one counts as zero, as solutions of conic programs have no exact zeros.
const inUse = 1e-5
