package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/finitejson"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// Choice is how hyperparameters are chosen, for a nested cross-validation (Stone 1974; Varma and Simon 2006). The
// validation error of a choice flatters it, as it is the least of many. So the rows are split into outer folds, by the
// design of the folds inside, and for each the whole choice is made anew on the other rows, with all that it learns
// from them: categories, gaps, units, folds, hyperparameters, the final fit. The errors of these models on the rows
// left out are those of the whole choice.
type Choice struct {
	// Build makes the model of rows; Intercept says that it has one.
	Build     func(*input.Rows) (problems.Model, error)
	Intercept bool
	Decisions Decisions // of a classifier
	// Methods, Chain and Config are those of [tune.Compare].
	Methods []string
	Chain   bool
	Config  tune.Config
}

// Nested is what the outer folds gave. Mean is the mean of their errors and StandardError its standard error: NaN
// without, or with one.
type Nested struct {
	Of      int // outer folds
	Folds   []NestedFold
	Stopped bool // by the end of the context
	// Metrics are the measures on all rows left out; nil where there is nothing to say.
	Metrics             []Metric
	Mean, StandardError float64
}

// NestedFold is the choice without an outer fold.
type NestedFold struct {
	Fold   int          `json:"fold"` // from 0
	Rows   int          `json:"rows"` // left out
	Error  float64      `json:"error"`
	Method string       `json:"method"`
	Status outcome.Stop `json:"status"`

	judged *Sample // on the rows left out; nil where there is nothing to say
}

// MarshalJSON writes null for numbers that are not finite.
func (n Nested) MarshalJSON() ([]byte, error) {
	return finitejson.Marshal(struct {
		Error         float64           `json:"error"`
		StandardError float64           `json:"standard_error"`
		Metrics       map[string]Metric `json:"metrics,omitempty"`
		Of            int               `json:"of"`
		Folds         []NestedFold      `json:"folds"`
	}{n.Mean, n.StandardError, ByName(n.Metrics), n.Of, n.Folds})
}

// ByName are measures by their names.
func ByName(list []Metric) map[string]Metric {
	out := map[string]Metric{}
	for _, m := range list {
		out[m.Name] = m
	}
	return out
}

// Best is the result whose refit has the least validation error, or score where the model has one, the first of equals;
// that without a refit only where there is no other.
func Best(results []*tune.Result) *tune.Result {
	return slices.MinFunc(results, func(a, b *tune.Result) int { return cmp.Compare(a.Value(), b.Value()) })
}

// Without are the rows and the model of the choice without an outer fold. The error says why there can be none.
func (c *Choice) Without(o *input.Outer, f split.Fold) (*input.Rows, problems.Model, error) {
	rows, err := o.Without(f.Train, f.Val)
	if err == nil {
		err = rows.CV.Validate()
	}
	if err != nil {
		return nil, nil, err
	}
	model, err := c.model(rows)
	return rows, model, err
}

// model is that of rows, which all methods must take.
func (c *Choice) model(rows *input.Rows) (problems.Model, error) {
	model, err := c.Build(rows)
	for _, method := range c.Methods {
		config := c.Config
		if config.Method = method; err == nil {
			err = tune.Check(model, config)
		}
	}
	return model, err
}

// Nested makes the choice without each of the outer folds, several side by side; what is done when the context ends is
// kept. Observe, if not nil, is told how many are done.
func (c *Choice) Nested(ctx context.Context, o *input.Outer, folds []split.Fold, observe func(done int)) (*Nested,
	error) {
	results := make([]*NestedFold, len(folds))
	errs := c.anew(ctx, len(folds), observe, func(k int) (*input.Rows, problems.Model, error) {
		return c.Without(o, folds[k])
	}, func(k int, rows *input.Rows, model problems.Model, r *tune.Result) error {
		if r.Refit.Test == nil {
			return fmt.Errorf("the model of a choice without an outer fold has no error: %s", r.Status)
		}
		j := NewJudge(rows, model, c.Intercept)
		j.Decisions = c.Decisions
		results[k] = &NestedFold{k, len(folds[k].Val), *r.Refit.Test, r.Method, r.Status, j.Of(r)}
		return nil
	})
	if k := slices.IndexFunc(errs, func(err error) bool { return err != nil }); k >= 0 && ctx.Err() == nil {
		return nil, fmt.Errorf("outer fold %d: %w", k, errs[k])
	}
	n := &Nested{Of: len(folds), Stopped: ctx.Err() != nil, Mean: math.NaN(), StandardError: math.NaN()}
	var values []float64
	var parts []*Sample
	var left [][]int
	for k, f := range results {
		if f != nil {
			n.Folds = append(n.Folds, *f)
			values, parts, left = append(values, f.Error), append(parts, f.judged), append(left, folds[k].Val)
		}
	}
	if all := together(parts, left); all != nil {
		n.Metrics = all.Metrics
	}
	if len(values) > 0 {
		n.Mean = stat.Mean(values, nil)
	}
	if len(values) > 1 {
		n.StandardError = stat.StdErr(stat.StdDev(values, nil), float64(len(values)))
	}
	return n, nil
}

// anew makes the whole choice on n sets of rows, which are drawn one at a time, several side by side, until the context
// ends; keep takes each result. The errors are those of each set.
func (c *Choice) anew(ctx context.Context, n int, observe func(done int), draw func(k int) (*input.Rows,
	problems.Model, error), keep func(k int, rows *input.Rows, model problems.Model, r *tune.Result) error) []error {
	config := c.Config
	config.Workers = cmp.Or(config.Workers, 1)
	var done atomic.Int64
	var reading sync.Mutex // of the tables
	errs := make([]error, n)
	crew.All(n, func(k int) {
		if ctx.Err() != nil {
			return
		}
		reading.Lock()
		rows, model, err := draw(k)
		reading.Unlock()
		var results []*tune.Result
		if err == nil {
			results, err = tune.Compare(ctx, model, c.Methods, c.Chain, config)
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			if r := Best(results); r.Refit != nil {
				err = keep(k, rows, model, r)
			} else {
				err = fmt.Errorf("a choice came to no model: %s", r.Status)
			}
		}
		errs[k] = err
		if n := done.Add(1); observe != nil {
			observe(int(n))
		}
	})
	return errs
}
