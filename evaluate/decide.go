package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

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
	number := func(text string) float64 {
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(v, 0) {
			return v
		}
		return math.NaN()
	}
	positive, negative, costs := strings.Cut(text, ":")
	u := &Rule{Measure: strings.ReplaceAll(text, "-", "_")}
	if costs {
		u = &Rule{Measure: Cost, FalsePositive: number(positive), FalseNegative: number(negative)}
		if u.FalsePositive > 0 && u.FalseNegative > 0 {
			return u, nil
		}
	} else if u.Measure == BalancedError || u.Measure == F1 {
		return u, nil
	} else if u = (&Rule{At: number(text)}); u.At == u.At {
		return u, nil
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
// between two scores. Order are the rows by their scores, the largest first. Rows of one label leave it at even odds.
func (u *Rule) threshold(s *Sample, order []int, left []bool) float64 {
	if u.Measure == "" {
		return u.At
	}
	var number, called [2]float64 // weights of the rows of both labels
	for i, y := range s.Y {
		if !left[i] {
			number[int(y)] += s.weight(i)
		}
	}
	best, least, last := s.even(), math.Inf(1), math.NaN()
	if number[0] == 0 || number[1] == 0 {
		return best
	}
	consider := func(next float64) {
		if loss := u.loss(called[1], called[0], number[1], number[0]); loss < least {
			least, best = loss, last+(next-last)/2
			if last != last { // no row is called positive
				best = next
			} else if next != next { // all are
				best = math.Nextafter(last, math.Inf(-1))
			}
		}
	}
	for _, i := range order {
		if left[i] {
			continue
		}
		if score := s.score(i); score != last {
			consider(score)
			last = score
		}
		called[int(s.Y[i])] += s.weight(i)
	}
	consider(math.NaN())
	return best
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
			held.add(j, p.rows, p.fit, p.from)
		}
		held = held.Last()
	}
	order := make([]int, len(held.Y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(held.score(b), held.score(a)) })
	left := make([]bool, len(order))
	s.Threshold = s.Rule.threshold(held, order, left)
	cut := slices.Repeat([]float64{s.Threshold}, len(s.Y))
	if s.On == OnFolds {
		from, out := 0, map[int]bool{}
		for _, p := range parts {
			clear(out)
			for _, i := range p.fold.Val {
				out[i] = true
			}
			for k, i := range s.Row {
				left[k] = out[i]
			}
			t := s.Rule.threshold(held, order, left)
			for range p.fold.Val {
				cut[from], from = t, from+1
			}
		}
	}
	s.decideAt(cut...)
}

// decideAt calls the rows by their thresholds, or by one.
func (s *Sample) decideAt(cut ...float64) {
	if s.Cut = cut; len(cut) == 1 {
		s.Cut = slices.Repeat(cut, len(s.Y))
	}
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

// decided are the measures with those in front that judge the decisions of labels that do not count alike.
func (s *Sample) decided(list []Metric) []Metric {
	if s.Rule == nil && !s.Unequal {
		return list
	}
	b, front := s.Last(), []Metric{s.balanced()}
	if s.Rule != nil {
		front = []Metric{b.balanced()}
		switch s.Rule.Measure {
		case F1:
			front = []Metric{b.f1(), front[0]}
		case Cost:
			front = []Metric{b.cost(), front[0]}
		}
	}
	return append(front, list...)
}

// balanced is the mean of the shares of wrong labels among the rows of each label.
func (s *Sample) balanced() Metric {
	wrong, of := s.each(s.wrong), [][2]float64{} // weights of the rows of each label, and of those that are wrong
	classes, total := 0.0, 0.0
	for i, y := range s.Y {
		for int(y) >= len(of) {
			of = append(of, [2]float64{})
		}
		of[int(y)][0] += s.weight(i)
		of[int(y)][1] += s.weight(i) * wrong[i]
		total += s.weight(i)
	}
	m := Metric{Name: BalancedError, Plain: math.NaN()}
	for _, n := range of {
		if n[0] > 0 {
			classes++
			m.Value += n[1] / n[0]
		}
	}
	m.Value /= classes
	m.Base = 1 - 1/classes
	m.StandardError = s.error(s.each(func(i int) float64 {
		n := of[int(s.Y[i])]
		return (wrong[i] - n[1]/n[0]) * total / n[0] / classes
	}), func(i int) int { return int(s.Y[i]) })
	return m
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
	of := func(called float64, i int) float64 {
		return s.Rule.FalsePositive*called*(1-s.Y[i]) + s.Rule.FalseNegative*(1-called)*s.Y[i]
	}
	all := func(i int) float64 {
		return indicator(s.Rule.FalseNegative*s.Base[i] > s.Rule.FalsePositive*(1-s.Base[i]))
	}
	return s.meanOf(Cost, s.each(func(i int) float64 { return of(indicator(s.called(i)), i) }),
		s.each(func(i int) float64 { return of(all(i), i) }), math.NaN())
}
