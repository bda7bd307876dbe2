package evaluate

import (
	"math"

	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/problems"
)

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
	if d.Row != nil { // rows that several deals validate count once
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
		list = append(list, Metric{Name: PartialDeviance, Value: 2 * at.HalfDeviance / total, StandardError: se, Base: 2 * l.HalfDeviance(d.Base) / total, Plain: math.NaN()})
	}
	return list
}
