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
func (s *Sample) addClasses(rows *dataset.Data, f problems.Fit, from *dataset.Data) {
	share := make([]float64, len(f.Labels))
	for k, label := range f.Labels {
		share[k] = from.Mean(is(from.Y, label))
	}
	row := make([]float64, len(f.Features))
	for i, y := range rows.Y {
		rows.Fill(row, i)
		p := Softmax(f.Values(row))
		s.Y, s.Value = append(s.Y, float64(slices.Index(f.Labels, y))), append(s.Value, float64(floats.MaxIdx(p)))
		s.Probability, s.Share = append(s.Probability, p), append(s.Share, share)
	}
}

// is has 1 for the values that are a label, and 0 for the others.
func is(values []float64, label float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = indicator(v == label)
	}
	return out
}

// Confusion counts the rows of each of so many labels by predicted labels, or sums up their weights.
func (s *Sample) Confusion(labels int) [][]float64 {
	n := make([][]float64, labels)
	for k := range n {
		n[k] = make([]float64, labels)
	}
	for i, y := range s.Y {
		called := s.predicted(i)
		if s.Weight == nil {
			n[int(y)][called]++
		} else {
			n[int(y)][called] += s.Weight[i]
		}
	}
	return n
}

// times are the measures of a fit of hazards: the concordance, over the pairs of rows of one part, and of a single part
// the deviance for each event.
func (s *Sample) times() []Metric {
	from, parts := 0, make([]survival.Part, len(s.Ends))
	for k, to := range s.Ends {
		parts[k] = survival.Part{Y: s.Y[from:to], F: s.Value[from:to]}
		if s.Weight != nil {
			parts[k].Weights = s.Weight[from:to]
		}
		from = to
	}
	index, se := survival.Concordance(parts...)
	if s.Row != nil { // rows that several repeats validate count once
		se *= math.Sqrt(float64(len(s.Row)) / float64(s.Rows))
	}
	list := []Metric{{Name: Concordance, Value: index, StandardError: se, Base: 0.5, Plain: math.NaN()}}
	if n := survival.Events(s.Y); len(parts) == 1 && n > 0 {
		l := survival.New(s.Y, s.Weight, s.losses.ties)
		at, total := l.At(s.Value, nil), l.Weight()
		losses, weights := at.EventLosses()
		se := 0.0
		if n > 1 {
			se = 2 * problems.StandardError(losses, weights, n)
		}
		list = append(list, Metric{Name: PartialDeviance, Value: 2 * at.HalfDeviance / total, StandardError: se,
			Base: 2 * l.HalfDeviance(s.Base) / total, Plain: math.NaN()})
	}
	return list
}

// Targets judges the refit of a result of several targets, on the rows of [Judge.Of]. It is nil for other models and
// where there are no rows.
func (j *Judge) Targets(r *tune.Result) []Sample {
	if j == nil || j.rows.Split == nil || j.rows.Split.Train.Targets == nil || r.Refit == nil {
		return nil
	}
	names := j.rows.Split.Train.NamesOfTargets()
	samples := make([]Sample, len(names))
	on, parts := j.parts(r)
	for _, p := range parts {
		learned := p.from()
		for k := range samples {
			s, y, from := &samples[k], dataset.ValuesOf(k, p.rows), dataset.ValuesOf(k, learned)
			base, row := learned.Mean(from), make([]float64, len(p.fit.Features))
			for i, v := range y {
				p.rows.Fill(row, i)
				s.Y, s.Value, s.Base = append(s.Y, v), append(s.Value, p.fit.Values(row)[k]), append(s.Base, base)
			}
			s.Row = append(s.Row, p.fold.Val...)
		}
	}
	if len(samples[0].Y) == 0 {
		return nil
	}
	for k := range samples {
		s := &samples[k]
		s.Target, s.On, s.Rows, s.Metrics = names[k], on, distinct(s.Row, len(s.Y)), s.Regression()
	}
	return samples
}
