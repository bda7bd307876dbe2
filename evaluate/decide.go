package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/tune"
)

// Rule says from which threshold on a classifier calls a row positive, which is its last label: where its score, the
// probability of that label, or its value where it has no probabilities, is above the threshold.
type Rule struct {
	// Measure is BalancedError, F1 or Cost, by whose best value the threshold is chosen; empty where it is At.
	Measure string
	At      float64
	// FalsePositive and FalseNegative are what a row costs that is called positive, and negative, by mistake.
	FalsePositive, FalseNegative float64
}

// ParseRule reads balanced-error, f1, the costs FP:FN, or a threshold.
func ParseRule(text string) (*Rule, error) {
	u := &Rule{Measure: strings.ReplaceAll(text, "-", "_")}
	var at, positive, negative float64
	_, none := fmt.Sscanf(text+"\n", "%g:%g\n", &positive, &negative)
	switch _, err := fmt.Sscanf(text+"\n", "%g\n", &at); {
	case u.Measure == BalancedError, u.Measure == F1:
		return u, nil
	case none == nil && positive > 0 && negative > 0 && finite.All(positive, negative):
		return &Rule{Measure: Cost, FalsePositive: positive, FalseNegative: negative}, nil
	case err == nil && finite.All(at):
		return &Rule{At: at}, nil
	}
	return nil, fmt.Errorf("%q found, expected balanced-error, f1, a threshold such as 0.2, or FP:FN, the costs of a "+
		"false positive and a false negative, such as 1:20", text)
}

// loss is what the rule makes least, from the weights of the rows that are rightly and wrongly called positive, and of
// those that are positive and negative.
func (u *Rule) loss(right, wrong, positive, negative float64) float64 {
	switch u.Measure {
	case F1:
		return 1 - 2*right/(right+wrong+positive)
	case Cost:
		return u.FalsePositive*wrong + u.FalseNegative*(positive-right)
	}
	return wrong/negative + (positive-right)/positive
}

// threshold is that of the least loss of the rows of a sample but those left out, the largest of equals, in the middle
// between two scores. Rows of one label leave it at even odds.
func (u *Rule) threshold(s *Sample, tied [][]int, left func(i int) bool) float64 {
	if u.Measure == "" {
		return u.At
	}
	weigh := func(rows []int) (n [2]float64) { // of both labels
		for _, i := range rows {
			if !left(i) {
				n[int(s.Y[i])] += s.weight(i)
			}
		}
		return n
	}
	all, called := weigh(slices.Concat(tied...)), [2]float64{}
	best, least, last := s.even(), math.Inf(1), math.NaN()
	consider := func(next float64) {
		if loss := u.loss(called[1], called[0], all[1], all[0]); loss < least && all[0] > 0 && all[1] > 0 {
			least, best = loss, last+(next-last)/2
		}
	}
	for _, rows := range tied {
		n, score := weigh(rows), s.score(rows[0])
		if n[0]+n[1] == 0 {
			continue
		} else if math.IsNaN(last) {
			last = score // no row is called positive
		}
		consider(score)
		called, last = [2]float64{called[0] + n[0], called[1] + n[1]}, score
	}
	consider((last - 1) * (1 - 2*s.even())) // all rows are
	return best
}

// tied are the rows by their scores, the largest first, those of one score together.
func (s *Sample) tied() [][]int { return s.tiedBy(s.score) }

// tiedBy are the rows by a value of each, the largest first, those of one value together.
func (s *Sample) tiedBy(value func(i int) float64) (out [][]int) {
	order := indices.Range(0, len(s.Y))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	for k, i := range order {
		if k == 0 || value(i) != value(order[k-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], i)
	}
	return out
}

// Decisions say how the decisions of a classifier are made.
type Decisions struct {
	Rule *Rule // nil for the label of the larger probability, or the sign of the value
	// Unequal says that labels do not count alike, so that measures that do not depend on their shares come first.
	Unequal bool
}

// decide calls the rows of a sample by the threshold of the rule. It is chosen from predictions of rows that their fits
// have not seen; the rows of a fold are called by what the other folds choose.
func (j *Judge) decide(s *Sample, r *tune.Result) {
	if s.Unequal, s.Rule = j.Decisions.Unequal, j.Decisions.Rule; s.Rule == nil || s.Fit.Labels == nil {
		return
	}
	_, parts := j.held(r)
	held := s.Last()
	if s.On == OnTest {
		held = &Sample{losses: j.losses, Fit: s.Fit}
		for _, p := range parts {
			held.add(j, p.rows, p.fit, p.from())
		}
		held = held.Last()
	}
	tied, seen := held.tied(), map[int]bool{}
	left := func(i int) bool { return len(seen) > 0 && seen[s.Row[i]] }
	s.Threshold = s.Rule.threshold(held, tied, left)
	if s.On != OnFolds {
		s.decideAt(slices.Repeat([]float64{s.Threshold}, len(s.Y)))
		return
	}
	var at []float64
	for _, p := range parts {
		clear(seen)
		for _, i := range p.fold.Val {
			seen[i] = true
		}
		at = append(at, slices.Repeat([]float64{s.Rule.threshold(held, tied, left)}, len(p.fold.Val))...)
	}
	s.decideAt(at)
}

// decideAt calls the rows by their thresholds.
func (s *Sample) decideAt(at []float64) {
	s.Cut = at
	for i, p := range s.Probability {
		last := len(p) - 1
		if s.Value[i] = float64(floats.MaxIdx(p[:last])); s.called(i) {
			s.Value[i] = float64(last)
		}
	}
}

// Last is the sample of the last label against all others: of two labels the sample itself.
func (s *Sample) Last() *Sample {
	if s.Probability == nil {
		return s
	}
	out, last := *s, len(s.Fit.Labels)-1
	out.Probability, out.losses.logOdds = nil, true
	out.Y = s.each(func(i int) float64 { return indicator(int(s.Y[i]) == last) })
	out.Base = s.each(func(i int) float64 { return s.Share[i][last] })
	out.Value = s.each(func(i int) float64 {
		p := s.Probability[i]
		return math.Log(p[last]) - math.Log(floats.Sum(p[:last]))
	})
	return &out
}

// score is the probability of the last label, or the value where there is none.
func (s *Sample) score(i int) float64 {
	switch {
	case s.Probability != nil:
		return s.Probability[i][len(s.Probability[i])-1]
	case s.losses.logOdds:
		return Probability(s.Value[i])
	}
	return s.Value[i]
}

// even is the score of even odds.
func (s *Sample) even() float64 {
	if s.losses.logOdds {
		return 0.5
	}
	return 0
}

// called says whether row i has a score above its threshold.
func (s *Sample) called(i int) bool {
	if s.Cut == nil {
		return s.Value[i] > 0
	}
	return s.score(i) > s.Cut[i]
}

// rare is the share of a label below which it is judged by measures that do not depend on its share: that of wrong
// labels is below it if that label is never predicted.
const rare = 0.1

// decided are the measures with those in front that judge labels that do not count alike, as where one is rare.
func (s *Sample) decided(list []Metric) []Metric {
	share := 0.5
	if s.Probability == nil {
		share = s.average(s.Base)
	}
	switch b := s.Last(); {
	case s.Rule == nil && !s.Unequal && min(share, 1-share) >= rare:
		return list
	case s.Rule == nil && s.Probability != nil:
		return append([]Metric{s.balanced()}, list...)
	default:
		front := []Metric{b.area(), b.precision(), b.balanced()}
		if s.Rule != nil && s.Rule.Measure == F1 {
			front = slices.Insert(front, 0, b.f1())
		} else if s.Rule != nil && s.Rule.Measure == Cost {
			front = slices.Insert(front, 0, b.cost())
		} else if s.Rule != nil && s.Rule.Measure == BalancedError {
			front = []Metric{front[2], front[0], front[1]}
		}
		return append(front, slices.DeleteFunc(list, func(m Metric) bool { return m.Name == AUC })...)
	}
}

// precision is the average precision: the mean over the positive rows of p, the share of them among the rows whose
// scores are as large, which have the share q of all. A row contributes to the p of all below it, too.
func (s *Sample) precision() Metric {
	tied, total := s.tied(), floats.Sum(s.each(s.weight))
	p, q, y := make([]float64, len(tied)), make([]float64, len(tied)), make([]float64, len(tied))
	share, called, right, area := s.average(s.Y), 0.0, 0.0, 0.0
	for k, rows := range tied {
		for _, i := range rows {
			called, y[k] = called+s.weight(i)/total, y[k]+s.Y[i]*s.weight(i)/total
		}
		right += y[k]
		p[k], q[k] = right/called, called
		area += y[k] * p[k] / share
	}
	contributes, below, belowRight := make([]float64, len(s.Y)), 0.0, 0.0
	for k := len(tied) - 1; k >= 0; k-- {
		below, belowRight = below+y[k]/q[k], belowRight+y[k]*p[k]/q[k]
		for _, i := range tied[k] {
			contributes[i] = (s.Y[i]*(p[k]-area+below) - belowRight) / share
		}
	}
	return Metric{AveragePrecision, area, s.error(contributes, nil), share, math.NaN()}
}

// balanced is the mean of the shares of wrong labels among the rows of each label that rows have.
func (s *Sample) balanced() Metric {
	label, n := func(i int) int { return int(s.Y[i]) }, 1+int(slices.Max(s.Y))
	all, wrong, total := make([]float64, n), make([]float64, n), 0.0
	for i := range s.Y {
		all[label(i)] += s.weight(i)
		wrong[label(i)] += s.weight(i) * s.wrong(i)
		total += s.weight(i)
	}
	labels, value := 0.0, 0.0
	for k, n := range all {
		if n > 0 {
			labels, value = labels+1, value+wrong[k]/n
		}
	}
	contributes := s.each(func(i int) float64 {
		return (s.wrong(i) - wrong[label(i)]/all[label(i)]) * total / all[label(i)] / labels
	})
	return Metric{BalancedError, value / labels, s.error(contributes, label), 1 - 1/labels, math.NaN()}
}

// wrong is 1 where the label of a row is not the predicted one.
func (s *Sample) wrong(i int) float64 { return indicator(s.predicted(i) != int(s.Y[i])) }

// predicted is the number of the label that a row is predicted to have.
func (s *Sample) predicted(i int) int {
	if s.Probability != nil {
		return int(s.Value[i])
	}
	return int(indicator(s.called(i)))
}

// f1 is 2 a / (2 a + b), with the means a of rows that are rightly called positive and b of wrong labels; without
// features all rows are called so.
func (s *Sample) f1() Metric {
	wrong := s.each(s.wrong)
	right := s.each(func(i int) float64 { return s.Y[i] * (1 - wrong[i]) })
	a, b, share := s.average(right), s.average(wrong), s.average(s.Y)
	f := 2 * a / (2*a + b)
	return Metric{F1, f, s.error(s.each(func(i int) float64 {
		return ((2-2*f)*right[i] - f*wrong[i]) / (2*a + b)
	}), nil), 2 * share / (1 + share), math.NaN()}
}

// cost is the mean cost of a row; without features it is that of the cheaper of calling all rows positive or none.
func (s *Sample) cost() Metric {
	u := s.Rule
	of := func(called func(i int) bool) []float64 {
		return s.each(func(i int) float64 {
			if called(i) {
				return u.FalsePositive * (1 - s.Y[i])
			}
			return u.FalseNegative * s.Y[i]
		})
	}
	all := func(i int) bool { return u.FalseNegative*s.Base[i] > u.FalsePositive*(1-s.Base[i]) }
	return s.meanOf(Cost, of(s.called), of(all), math.NaN())
}
