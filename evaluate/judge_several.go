package evaluate

import (
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// ofMatrix is of for a completed matrix, on its test entries, or on those for validation by the completion of the
// training entries.
func (j *Judge) ofMatrix(r *tune.Result) *Judged {
	split, fit := j.rows.Split, r.RefitFit
	out := &Judged{Entries: true, On: OnTest, Fit: fit}
	rows, from := split.Test, split.Train
	switch {
	case rows != nil && r.TrainedOn == tune.FinalAll:
		from = targetsOf(split.Train, split.Val)
	case rows == nil && (r.Selection == nil || r.Selection.X == nil):
		return nil
	case rows == nil:
		out.On, rows, fit = OnValidation, split.Val, j.model.Fit(r.Selection.X)
	}
	if fit.Matrix == nil {
		return nil
	}
	base := from.Mean(from.Y)
	for i, y := range rows.Y {
		v := fit.Matrix.At(int(rows.X.At(i, 0)), int(rows.X.At(i, 1)))
		out.Y, out.Value, out.Base = append(out.Y, y), append(out.Value, v), append(out.Base, base)
	}
	out.Rows, out.Metrics = len(out.Y), out.Regression()
	return out
}

// JudgedTarget are the measures of one of several targets.
type JudgedTarget struct {
	Name    string
	Metrics []Metric
}

// JudgedTargets are those of all, and the rows that they are about.
type JudgedTargets struct {
	On   string
	Rows int // distinct ones
	List []JudgedTarget
}

// Targets judges the refit of a result of several targets, on the rows of [Judge.Of]. It is nil for other models and
// where there are no rows.
func (j *Judge) Targets(r *tune.Result) *JudgedTargets {
	if j == nil || j.rows.Targets == nil || r.Refit == nil {
		return nil
	}
	t, out := j.rows.Targets, &JudgedTargets{}
	samples := make([]Sample, len(t.Names))
	var parts []part
	out.On, parts = j.parts(r)
	for _, p := range parts {
		for k := range samples {
			train := t.Column(k, t.Train)
			var y, from []float64
			switch out.On {
			case OnFolds:
				y, from = at(train, p.fold.Val), at(train, p.fold.Train)
			case OnValidation:
				y, from = t.Column(k, t.Val), train
			default:
				if y, from = t.Column(k, t.Test), train; r.TrainedOn == tune.FinalAll {
					from = t.Column(k, t.Train, t.Val)
				}
			}
			addTarget(&samples[k], k, p.rows, y, p.fit, from)
			samples[k].Row = append(samples[k].Row, p.fold.Val...)
		}
	}
	if len(samples[0].Y) == 0 {
		return nil
	}
	out.Rows = distinct(samples[0].Row, len(samples[0].Y))
	for k := range samples {
		out.List = append(out.List, JudgedTarget{t.Names[k], samples[k].Regression()})
	}
	return out
}

// addTarget adds the predictions of target k for rows with the values y; from are those that the fit learned from.
func addTarget(s *Sample, k int, rows *dataset.Data, y []float64, f tune.Fit, from []float64) {
	base, row := (&dataset.Data{Y: from}).Mean(from), make([]float64, len(f.Features))
	for i, v := range y {
		rows.Fill(row, i)
		s.Y, s.Value, s.Base = append(s.Y, v), append(s.Value, f.Values(row)[k]), append(s.Base, base)
	}
}

// at are the values of some rows.
func at(y []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = y[i]
	}
	return out
}
