package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// baseline is what rows with some offset are predicted to be without any feature: the best constant for the training
// rows, by their weights, beside the offset.
func (j *Judge) baseline(from *dataset.Data, f problems.Fit) func(offset float64) float64 {
	less := from.Y
	if from.Offset != nil {
		less = floats.SubTo(make([]float64, len(from.Y)), from.Y, from.Offset)
	}
	switch {
	case f.Labels != nil:
		return labelShare(from, is(from.Y, f.Labels[1]))
	case f.LogLink && from.Offset != nil:
		exposure := make([]float64, len(from.Offset))
		for i, o := range from.Offset {
			exposure[i] = math.Exp(o)
		}
		rate := from.Mean(from.Y) / from.Mean(exposure)
		return func(offset float64) float64 { return rate * math.Exp(offset) }
	case j.level > 0:
		less, weights := slices.Clone(less), slices.Clone(from.Weights)
		stat.SortWeighted(less, weights)
		q := stat.Quantile(j.level, stat.Empirical, less, weights) // the least with that share of the weight up to it
		return func(offset float64) float64 { return q + offset }
	}
	mean := from.Mean(less)
	return func(offset float64) float64 { return mean + offset }
}

// labelShare is the probability of the second label of which yes says where it is: its share, or with offsets, which
// are log odds, that of the constant beside them with which it is the share on average.
func labelShare(from *dataset.Data, yes []float64) func(offset float64) float64 {
	share := from.Mean(yes)
	if from.Offset == nil || share == 0 || share == 1 {
		return func(float64) float64 { return share }
	}
	odds := math.Log(share / (1 - share))
	p, low, high := make([]float64, len(yes)), odds-slices.Max(from.Offset), odds-slices.Min(from.Offset)
	c := numerics.Bisect(low, high, func(c float64) bool {
		for i, o := range from.Offset {
			p[i] = Probability(c + o)
		}
		return from.Mean(p) < share
	})
	return func(offset float64) float64 { return Probability(c + offset) }
}

// unpenalisedFits are predictions of fits without penalty, or why there are none.
type unpenalisedFits struct {
	value []float64
	why   error
}

// mostUnpenalised bounds the multiplications of all fits without penalty, which are there for comparison only.
const mostUnpenalised = 1e9

// kindOf is the loss whose fit without penalty a predictor is compared with; ok is false where there is none.
func (j losses) kindOf(f problems.Fit) (kind plainKind, ok bool) {
	switch {
	case f.Hazard, f.Classes(), f.Matrix != nil, f.Labels != nil && !j.logOdds, j.level > 0:
		return 0, false
	case f.Labels != nil:
		return plainLogistic, true
	case f.LogLink:
		return plainPoisson, true
	}
	return plainSquares, true
}

// LeastSquares says that the fit without penalty is one of squares.
func (s *Sample) LeastSquares() bool {
	kind, _ := s.losses.kindOf(s.Fit)
	return kind == plainSquares
}

// addUnpenalised adds the predictions of fits without penalty to the rows that the parts of a predictor learned from,
// which are the same for all predictors that are trained on them.
func (j *Judge) addUnpenalised(d *Sample, parts []part, trainedOn string) {
	kind, ok := j.kindOf(d.Fit)
	if !ok {
		return
	}
	key := d.On
	if d.On == OnTest {
		key += " " + trainedOn
	}
	fits, known := j.plain[key]
	if !known {
		fits = j.unpenalised(kind, d.Fit, parts)
		j.plain[key] = fits
	}
	d.Plain, d.WhyNotPlain = fits.value, fits.why
}

func (j *Judge) unpenalised(kind plainKind, of problems.Fit, parts []part) (out unpenalisedFits) {
	work := 0.0
	for _, part := range parts {
		work += plainWork(kind, part.from())
	}
	if work > mostUnpenalised {
		return out
	}
	for _, part := range parts {
		from := *part.from()
		if kind == plainLogistic {
			from.Y = is(from.Y, of.Labels[1])
		}
		s, err := fitPlain(kind, &from, j.intercept)
		if err != nil {
			return unpenalisedFits{why: err}
		}
		out.value = append(out.value, predicted(part.rows, *s)...)
	}
	return out
}

// predicted are the predictions of a fit for rows: of a classifier the values whose sign is the label, of counts the
// means, of hazards their logarithms. The rows of a matrix are places of entries.
func predicted(rows *dataset.Data, f problems.Fit) []float64 {
	out := make([]float64, len(rows.Y))
	crew.Ranges(len(out), func(from, to int) {
		for i := from; i < to; i++ {
			if f.Matrix != nil {
				out[i] = f.Matrix.At(int(rows.X.At(i, 0)), int(rows.X.At(i, 1)))
				continue
			}
			out[i] = f.Intercept + rows.Dot(i, f.Coefficients)
			if rows.Offset != nil {
				out[i] += rows.Offset[i]
			}
			if f.LogLink {
				out[i] = math.Exp(out[i])
			}
		}
	})
	return out
}
