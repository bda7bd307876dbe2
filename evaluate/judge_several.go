package evaluate

import (
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

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
