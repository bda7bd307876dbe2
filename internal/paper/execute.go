package paper

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/conetune/conetune/internal/usage"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// failed is the status of an item that ended with an error.
const failed = "failed"

// task is what an item says by names.
type task struct {
	row      Row
	method   Method
	settings string        // what the record depends on beyond the names
	rows     *dataset.Data // of a file
}

// taskOf finds it. The error is for names that are not known, and for data that cannot be read.
func taskOf(i Item, files *Files) (t task, err error) {
	table, err := FindTable(i.Table)
	if err != nil {
		return t, err
	}
	if t.row, err = table.row(i.Row); err != nil {
		return t, err
	}
	if t.method, err = FindMethod(i.Method); err != nil {
		return t, err
	}
	if t.row.files != nil {
		t.rows, t.settings, err = files.read(t.row.files)
		t.settings = "data " + t.settings
	}
	return t, err
}

// Execute does an item and returns its record, without the version. A run that ends with an error has it in its record.
// The error is for a cancelled context, for names that are not known, and for data that cannot be read.
func Execute(ctx context.Context, i Item, files *Files) (*Record, error) {
	t, err := taskOf(i, files)
	if err != nil {
		return nil, err
	}
	r := &Record{Schema: Schema, Item: i, Settings: t.settings}
	build, err := t.row.data(t.rows, i.Seed)
	if err != nil { // the file is not one for this row
		r.Status, r.Message = failed, err.Error()
		return r, nil
	}
	used := usage.Processor()
	begun := time.Now()
	result, dimension, err := guarded(ctx, build, t.method, t.method.config(i, t.row), begun)
	r.Seconds = time.Since(begun).Seconds()
	r.CPU = usage.Processor() - used
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Status, r.Message = failed, err.Error()
		return r, nil
	}
	r.Dimension = dimension
	r.fill(t.method, result)
	return r, nil
}

// guarded builds the model and tunes it. A panic is a bug of ours, and no reason to lose the other items.
func guarded(ctx context.Context, make build, m Method, c tune.Config, begun time.Time) (r *tune.Result, dimension int,
	err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	model, err := make()
	if err != nil {
		return nil, 0, err
	}
	built := time.Since(begun)
	if r, err = tune.Run(ctx, model, c); err != nil {
		return nil, 0, err
	}
	for k := range r.Trace {
		r.Trace[k].Elapsed += built
	}
	dimension, err = m.dimension(model)
	return r, dimension, err
}

// fill copies what the tables need.
func (r *Record) fill(m Method, from *tune.Result) {
	r.Status, r.Message = string(from.Status), from.Message
	r.Iterations = from.Iterations
	r.Gap = words.FiniteOrNull(from.LowerGap)
	if from.Iterations > 0 {
		r.Iterate = errorsOf(&from.Errors)
	}
	refit := from.Refit
	if from.LowerLevel != nil {
		refit = from.LowerLevel
	}
	r.Refit = errorsOf(refit)
	if m.preset == "" && from.LowerLevel != nil && from.Refit != nil {
		r.Deployed = number(from.Refit.Test)
	}
	r.Hyperparameters = slices.Clone(from.Lambda)
	if from.Selection != nil {
		r.Hyperparameters = append(r.Hyperparameters, from.Selection.Upper...)
	}
	for k, v := range r.Hyperparameters {
		if !words.Finite(v) {
			r.Hyperparameters[k] = 0
		}
	}
	r.Trace = trace(from, r.Seconds)
}

// errorsOf copies errors, without what JSON cannot say.
func errorsOf(e *problems.Errors) Errors {
	if e == nil {
		return Errors{}
	}
	return Errors{Validation: number(&e.Validation), Test: number(e.Test)}
}

func number(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return words.FiniteOrNull(*v)
}

// trace is what a run had reached when: of VF-iDCA every iteration, of other methods every improvement, and the end of
// the run.
func trace(r *tune.Result, seconds float64) []Point {
	events := slices.Clone(r.Trace)
	slices.SortStableFunc(events, func(a, b tune.Event) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	iterates := r.Method == tune.MethodVFiDCA || r.Method == tune.MethodVFiDCAT
	var points []Point
	var best *problems.Errors
	for _, e := range events {
		better := e.Refit != nil && words.Finite(e.Refit.Validation) && (best == nil || e.Refit.Validation < best.Validation)
		if better {
			best = e.Refit
		}
		if !better && !iterates {
			continue
		}
		p := Point{Seconds: e.Elapsed.Seconds(), Iteration: e.K, Best: errorsOf(best), Alpha: e.Alpha}
		p.Iterate = p.Best
		if iterates {
			p.Iterate = errorsOf(&e.Errors)
		}
		points = append(points, p)
	}
	end := Point{Seconds: seconds, Iteration: r.Iterations, Iterate: errorsOf(&r.Errors), Best: errorsOf(best)}
	if r.Iterations == 0 {
		end.Iterate = Errors{}
	}
	if iterates {
		end.Alpha = r.Alpha
	}
	// The machine of a cross-validation is tested at the end only.
	if r.Refit != nil && end.Best.Test == nil {
		end.Best.Test = number(r.Refit.Test)
	}
	return append(webpage.Thinned(points, TracePoints-1), end)
}
