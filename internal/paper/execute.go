package paper

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// failed is the status of an item that ended with an error.
const failed = "failed"

// Execute does an item and returns its record, without the version. A run that ends with an error has it in its record. The
// error is for a cancelled context, for names that are not known, and for data that cannot be read.
func Execute(ctx context.Context, i Item, files *Files) (*Record, error) {
	table, err := FindTable(i.Table)
	if err != nil {
		return nil, err
	}
	row, err := table.row(i.Row)
	if err != nil {
		return nil, err
	}
	method, err := FindMethod(i.Method)
	if err != nil {
		return nil, err
	}
	settings, err := settingsOf(row, files)
	if err != nil {
		return nil, err
	}
	var rows *dataset.Data
	if row.files != nil {
		if rows, _, err = files.read(row.files); err != nil {
			return nil, err
		}
	}
	out := &Record{Schema: Schema, Item: i, Settings: settings}
	make, err := row.data(rows, i.Seed)
	if err != nil { // the file is not one for this row
		out.Status, out.Message = failed, err.Error()
		return out, nil
	}
	used, known := processorTime()
	begun := time.Now()
	result, dimension, err := guarded(ctx, make, method, method.config(i, row), begun)
	out.Seconds = time.Since(begun).Seconds()
	if now, ok := processorTime(); ok && known {
		out.CPU = now - used
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out.Status, out.Message = failed, err.Error()
		return out, nil
	}
	out.Dimension = dimension
	out.fill(method, result)
	return out, nil
}

// settingsOf says what the record of a row depends on beyond its names.
func settingsOf(row Row, files *Files) (string, error) {
	if row.files == nil {
		return "", nil
	}
	_, sum, err := files.read(row.files)
	return "data " + sum, err
}

// guarded builds the model and tunes it. A panic is a bug of ours, and no reason to lose the other items.
func guarded(ctx context.Context, make build, m Method, c tune.Config, begun time.Time) (r *tune.Result, dimension int, err error) {
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
	if gap := from.LowerGap; finite(gap) {
		r.Gap = &gap
	}
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
		if !finite(v) {
			r.Hyperparameters[k] = 0
		}
	}
	r.Trace = trace(from, r.Seconds)
}

// errorsOf copies errors, without what JSON cannot say.
func errorsOf(e *tune.Errors) Errors {
	if e == nil {
		return Errors{}
	}
	return Errors{Validation: number(&e.Validation), Test: number(e.Test)}
}

func number(v *float64) *float64 {
	if v == nil || !finite(*v) {
		return nil
	}
	c := *v
	return &c
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
