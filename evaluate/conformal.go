package evaluate

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// Conformal is what prediction intervals of a regression take: fits, and how far each was from the targets of rows that
// it was not trained on. With the n rows i of all parts, of residuals R_i by the fit f_i, the interval of level q for a
// row x goes from the m-th largest of f_i(x) - R_i to the m-th smallest of f_i(x) + R_i, where m = ceil(q (n + 1)).
// With the folds of a cross-validation this is CV+ (Barber, Candes, Ramdas, Tibshirani, Predictive inference with the
// jackknife+, Annals of Statistics 49, 2021, section 3), with as many folds as rows the jackknife+, and with validation
// rows split conformal prediction (Papadopoulos and others, 2002; Lei and others, JASA 113, 2018). For rows drawn as
// those of the training, whatever their distribution, the last has a coverage of q in the mean, and CV+ of about q and,
// for the hyperparameters given, at least 2 q - 1 less a term in sqrt(2/n).
type Conformal struct {
	// Around says what the intervals are around: [AroundFolds], the fits of the parts, or [AroundModel], the model itself,
	// where these would take too much room, or have features of their own, splines with other knots for example.
	Around string          `json:"around"`
	Parts  []ConformalPart `json:"parts"`
}

// What the intervals are around.
const (
	AroundFolds = "folds"
	AroundModel = "model"
)

// ConformalPart is a fit with the residuals of Rows rows.
type ConformalPart struct {
	Intercept float64 `json:"intercept"`
	// Index are the numbers, from 1 and rising, of the features whose coefficients are not zero, Coefficients these.
	Index        []int     `json:"index,omitempty"`
	Coefficients []float64 `json:"coefficients,omitempty"`
	// Rows is the number of rows, and Residuals are their absolute residuals in rising order, or where the rows are many
	// the largest of each of as many parts of that order.
	Rows      int       `json:"rows"`
	Residuals []float64 `json:"residuals"`
}

const (
	// mostResiduals are kept in all, which is a level in steps of 0.0002; fewest of each part.
	mostResiduals, fewestResiduals = 5000, 50
	// mostKept bounds the coefficients of folds that are kept, mostSpread these with those that are zero.
	mostKept, mostSpread = 50_000, 5_000_000
)

// Conformal is what prediction intervals of the refit take, from the fits of the folds of the first repeat, or the one
// to the training rows, at the chosen hyperparameters. It is nil for models of labels, times, several targets and
// entries, and where no fits are known.
func (j *Judge) Conformal(r *tune.Result) *Conformal {
	if f := r.RefitFit; r.Refit == nil || f.Labels != nil || f.Hazard || f.Targets != nil || f.Matrix != nil {
		return nil
	}
	_, parts := j.held(r)
	if parts == nil {
		return nil
	}
	if j.rows.CV != nil {
		parts = parts[:j.rows.FoldCount()]
	}
	out, kept, spread := &Conformal{Around: AroundFolds}, 0, 0
	most := max(fewestResiduals, mostResiduals/len(parts))
	for _, p := range parts {
		c := ConformalPart{Intercept: p.fit.Intercept, Rows: len(p.rows.Y), Residuals: predicted(p.rows, p.fit)}
		for i, y := range p.rows.Y {
			c.Residuals[i] = math.Abs(y - c.Residuals[i])
		}
		slices.Sort(c.Residuals)
		c.Residuals = thinned(c.Residuals, most)
		if floats.HasNaN(c.Residuals) || math.IsInf(floats.Max(c.Residuals), 0) {
			return nil
		}
		for k, b := range p.fit.Coefficients {
			if b != 0 {
				c.Index, c.Coefficients = append(c.Index, k+1), append(c.Coefficients, b)
			}
		}
		kept, spread = kept+len(c.Index), spread+len(p.fit.Coefficients)
		out.Parts = append(out.Parts, c)
	}
	if kept > mostKept || spread > mostSpread || j.rows.CV != nil && j.rows.Encoder.Expands() {
		out.Around = AroundModel
		for k := range out.Parts {
			out.Parts[k] = ConformalPart{Rows: out.Parts[k].Rows, Residuals: out.Parts[k].Residuals}
		}
	}
	return out
}

// thinned are the largest of each of so many parts of a sorted list, or all of it.
func thinned(sorted []float64, most int) []float64 {
	n := len(sorted)
	if n <= most {
		return sorted
	}
	out := make([]float64, most)
	for k := range out {
		out[k] = sorted[int64(n)*int64(k+1)/int64(most)-1]
	}
	return out
}

// Rows is the number of residuals that intervals are made of.
func (c *Conformal) Rows() (n int) {
	for _, p := range c.Parts {
		n += p.Rows
	}
	return n
}

// Bounds are the intervals of a level.
type Bounds struct {
	parts  []ConformalPart
	rank   int64   // of the n rows, those that an interval has on either side
	margin float64 // the bound where all fits predict 0

	from, to, upTo []int // scratch
	mirrored       []float64
}

// At are the intervals of a level, for one goroutine at a time. The error says that it is none, or higher than the
// number of rows allows.
func (c *Conformal) At(level float64) (*Bounds, error) {
	n := float64(c.Rows())
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("level %v, expected a number between 0 and 1", level)
	}
	m := math.Ceil((level - 1e-12) * (n + 1)) // a product that is a whole number but for rounding
	if m > n {
		return nil, fmt.Errorf("level %v takes at least %.0f rows, but there are %.0f residuals", level,
			math.Ceil(level/(1-level)-1e-9), n)
	}
	k := len(c.Parts)
	b := &Bounds{parts: c.Parts, rank: int64(m), from: make([]int, k), to: make([]int, k), upTo: make([]int, k),
		mirrored: make([]float64, k)}
	b.margin = b.above(b.mirrored, 0, math.Inf(1))
	return b, nil
}

// Of are the bounds for a row that the fit of each part, or the model in the place of all, predicts so, see
// [Conformal].
func (b *Bounds) Of(predictions []float64) (low, high float64) {
	for k, f := range predictions {
		b.mirrored[k] = -f
	}
	least, largest := slices.Min(predictions), slices.Max(predictions)
	low = -b.above(b.mirrored, b.margin-largest, b.margin-least)
	return low, b.above(predictions, b.margin+least, b.margin+largest)
}

// above is the least of the predictions plus residuals that so many of them are not above, which is at least low and at
// most high. It is looked for in a range of each part, the widest of which is halved.
func (b *Bounds) above(predictions []float64, low, high float64) float64 {
	upTo := func(k, from, to int, v float64) int { // the first place in a range from which on sums are larger
		r := b.parts[k].Residuals
		return from + sort.Search(to-from, func(i int) bool { return predictions[k]+r[from+i] > v })
	}
	below := math.Nextafter(low, math.Inf(-1))
	for k, p := range b.parts {
		b.from[k] = upTo(k, 0, len(p.Residuals), below)
		b.to[k] = upTo(k, b.from[k], len(p.Residuals), high)
	}
	least := high
	for {
		widest := 0
		for k := range b.parts {
			if b.to[k]-b.from[k] > b.to[widest]-b.from[widest] {
				widest = k
			}
		}
		if b.to[widest] == b.from[widest] {
			return least
		}
		middle := (b.from[widest] + b.to[widest]) / 2
		v, rows := predictions[widest]+b.parts[widest].Residuals[middle], int64(0)
		for k, p := range b.parts {
			b.upTo[k] = upTo(k, b.from[k], b.to[k], v)
			rows += int64(p.Rows) * int64(b.upTo[k]) / int64(len(p.Residuals))
		}
		if rows < b.rank {
			copy(b.from, b.upTo)
		} else {
			least = v
			copy(b.to, b.upTo)
			b.to[widest] = middle
		}
	}
}

// Covered is what intervals do on rows.
type Covered struct {
	Level float64 `json:"level"`
	Rows  int     `json:"rows"`
	// Coverage is the share of rows whose target is inside, bounds included, and Width the mean width, in the unit of the
	// target.
	Coverage      float64 `json:"coverage"`
	StandardError float64 `json:"standard_error"`
	Width         float64 `json:"mean_width"`
}

// Intervals says what intervals of a level do on the test rows; nil where there are none, of either.
func (j *Judge) Intervals(r *tune.Result, level float64) *Covered {
	if j == nil || j.rows.Split == nil || j.rows.Split.Test == nil {
		return nil
	}
	c := j.Conformal(r)
	if c == nil {
		return nil
	}
	return c.On(level, j.rows.Split.Test, r.RefitFit)
}

// On says what intervals of a level do on rows that a model predicts; nil where the level is too high, and for no rows.
func (c *Conformal) On(level float64, rows *dataset.Data, model problems.Fit) *Covered {
	bounds, err := c.At(level)
	if err != nil || len(rows.Y) == 0 {
		return nil
	}
	by := make([][]float64, len(c.Parts))
	for k, f := range c.Fits(model) {
		by[k] = predicted(rows, f)
	}
	out, f := &Covered{Level: level, Rows: len(rows.Y)}, make([]float64, len(by))
	for i, y := range rows.Y {
		for k := range f {
			f[k] = by[k][i]
		}
		low, high := bounds.Of(f)
		if model.LogLink {
			low = max(0, low)
		}
		if low <= y && y <= high {
			out.Coverage++
		}
		out.Width += (high - low) / float64(out.Rows)
	}
	out.Coverage /= float64(out.Rows)
	out.StandardError = math.Sqrt(out.Coverage * (1 - out.Coverage) / float64(out.Rows))
	return out
}

// Fits are the fits of the parts of a model, in their order: the model itself where the intervals are around it.
func (c *Conformal) Fits(model problems.Fit) []problems.Fit {
	out := slices.Repeat([]problems.Fit{model}, len(c.Parts))
	for k, p := range c.Parts {
		if c.Around == AroundModel {
			break
		}
		out[k].Intercept, out[k].Coefficients = p.Intercept, make([]float64, len(model.Coefficients))
		for i, j := range p.Index {
			out[k].Coefficients[j-1] = p.Coefficients[i]
		}
	}
	return out
}

// Validate says what is wrong with the parts of a model of p features; nil for nothing.
func (c *Conformal) Validate(features int) error {
	if c.Around != AroundFolds && c.Around != AroundModel || len(c.Parts) == 0 {
		return fmt.Errorf("intervals around %q, of %d parts", c.Around, len(c.Parts))
	}
	for k, p := range c.Parts {
		rising := slices.IsSorted(p.Index) && len(slices.Compact(slices.Clone(p.Index))) == len(p.Index)
		switch n := len(p.Index); {
		case n != len(p.Coefficients) || !rising || n > 0 && (p.Index[0] < 1 || p.Index[n-1] > features):
			return fmt.Errorf("intervals, part %d: %d coefficients for the features of %d numbers, expected rising ones from "+
				"1 to %d", k, len(p.Coefficients), n, features)
		case len(p.Residuals) == 0 || p.Rows < len(p.Residuals) || !slices.IsSorted(p.Residuals) || p.Residuals[0] < 0:
			return fmt.Errorf("intervals, part %d: %d residuals of %d rows, expected rising ones from 0 on", k,
				len(p.Residuals), p.Rows)
		}
	}
	return nil
}
