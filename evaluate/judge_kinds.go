package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// addClasses is add for a fit with a value for each label.
func (d *Judged) addClasses(rows *dataset.Data, f problems.Fit, from *dataset.Data) {
	share := make([]float64, len(f.Labels))
	for k, label := range f.Labels {
		share[k] = from.Mean(is(from.Y, label))
	}
	row := make([]float64, len(f.Features))
	for i, y := range rows.Y {
		rows.Fill(row, i)
		p := Softmax(f.Values(row))
		d.Y, d.Value = append(d.Y, float64(slices.Index(f.Labels, y))), append(d.Value, float64(floats.MaxIdx(p)))
		d.Probability, d.Share = append(d.Probability, p), append(d.Share, share)
	}
}

// is has 1 for the values that are a label, and 0 for the others.
func is(values []float64, label float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if v == label {
			out[i] = 1
		}
	}
	return out
}

// Confusion counts the rows of each of so many labels by predicted labels, or sums up their weights.
func (d *Judged) Confusion(labels int) [][]float64 {
	n := make([][]float64, labels)
	for k := range n {
		n[k] = make([]float64, labels)
	}
	for i, y := range d.Y {
		called := int(d.Value[i])
		if d.Probability == nil {
			if called = 0; d.Value[i] > 0 {
				called = 1
			}
		}
		if d.Weight == nil {
			n[int(y)][called]++
		} else {
			n[int(y)][called] += d.Weight[i]
		}
	}
	return n
}

// times are the measures of a fit of hazards: the concordance, over the pairs of rows of one part, and of a single part
// the deviance for each event.
func (d *Judged) times() []Metric {
	from, parts := 0, make([]survival.Part, len(d.Ends))
	for k, to := range d.Ends {
		parts[k] = survival.Part{Y: d.Y[from:to], F: d.Value[from:to]}
		if d.Weight != nil {
			parts[k].Weights = d.Weight[from:to]
		}
		from = to
	}
	index, se := survival.Concordance(parts...)
	if d.Row != nil { // rows that several repeats validate count once
		se *= math.Sqrt(float64(len(d.Row)) / float64(d.Rows))
	}
	list := []Metric{{Name: Concordance, Value: index, StandardError: se, Base: 0.5, Plain: math.NaN()}}
	if n := survival.Events(d.Y); len(parts) == 1 && n > 0 {
		l := survival.New(d.Y, d.Weight, d.losses.ties)
		at, total := l.At(d.Value, nil), l.Weight()
		losses, weights := at.EventLosses()
		se := 0.0
		if n > 1 {
			se = 2 * problems.StandardError(losses, weights, n)
		}
		list = append(list, Metric{Name: PartialDeviance, Value: 2 * at.HalfDeviance / total, StandardError: se,
			Base: 2 * l.HalfDeviance(d.Base) / total, Plain: math.NaN()})
	}
	return list
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
	if j == nil || j.rows.Split == nil || j.rows.Split.Train.Targets == nil || r.Refit == nil {
		return nil
	}
	s, out := j.rows.Split, &JudgedTargets{}
	names := s.Train.NamesOfTargets()
	samples := make([]Sample, len(names))
	var parts []part
	out.On, parts = j.parts(r)
	for _, p := range parts {
		for k := range samples {
			train := dataset.ValuesOf(k, s.Train)
			var y, from []float64
			switch out.On {
			case OnFolds:
				y, from = at(train, p.fold.Val), at(train, p.fold.Train)
			case OnValidation:
				y, from = dataset.ValuesOf(k, s.Val), train
			default:
				if y, from = dataset.ValuesOf(k, s.Test), train; r.TrainedOn == tune.FinalAll {
					from = dataset.ValuesOf(k, s.Train, s.Val)
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
		out.List = append(out.List, JudgedTarget{names[k], samples[k].Regression()})
	}
	return out
}

// addTarget adds the predictions of target k for rows with the values y; from are those that the fit learned from.
func addTarget(s *Sample, k int, rows *dataset.Data, y []float64, f problems.Fit, from []float64) {
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
