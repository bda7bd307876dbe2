package survival

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// Ties says how events at one time are counted.
type Ties int

// The rules for ties.
const (
	// Breslow has all events of a time among those at risk for each of them; the zero value.
	Breslow Ties = iota
	// Efron has them leave one after the other, each a share of all.
	Efron
)

// TieRules are the names of the rules.
func TieRules() []string { return []string{"breslow", "efron"} }

// String is the name.
func (t Ties) String() string { return TieRules()[t] }

// ParseTies reads the name of a rule.
func ParseTies(name string) (Ties, error) {
	k := slices.Index(TieRules(), name)
	if k < 0 {
		return 0, fmt.Errorf("survival: unknown rule %q for ties, expected one of %s", name, strings.Join(TieRules(), ", "))
	}
	return Ties(k), nil
}

// Likelihood is the partial likelihood of proportional hazards (Cox, JRSS B 34, 1972). The rows at risk at time t are
// those whose time is t or later, R(t). With values f of the rows, and D the d events of a time, it has the logarithm
//
//	sum over times of  sum_{i in D} f_i - sum_k m_k log( sum_{i in R \ D} exp(f_i) + c_k sum_{i in D} exp(f_i) ),
//
// of one term k with m = d, c = 1 for Breslow's rule (Biometrics 30, 1974), and d terms with m = 1, c_k = 1 - k/d, k =
// 0, .., d - 1, for Efron's (JASA 72, 1977). With weights w_i of the rows, these stand before each f_i of an event and
// each exp(f_i), and m is the sum of the weights of D, for Efron's rule a d-th of it, as in coxph of R's survival: with
// Breslow's rule a row of weight 2 is two rows. It does not change, and may be used by several goroutines.
type Likelihood struct {
	n         int
	order     []int // of the rows by time
	ties      Ties
	groups    []group
	events    int
	saturated float64
	// weight are those of the rows, nil for ones, and shift their logarithms.
	weight, shift []float64
}

// group are the events of one time, at positions from on in the order, all later ones being at risk.
type group struct {
	from, events int
	time         float64
	weight       float64 // of the events
}

// terms of a group, with the weight m of each.
func (l *Likelihood) terms(g group) (count int, m float64) {
	if l.ties == Efron {
		return g.events, g.weight / float64(g.events)
	}
	return 1, g.weight
}

// share is c_k.
func (g group) share(k int) float64 { return 1 - float64(k)/float64(g.events) }

// New takes the times of rows, see [Check], and positive weights of theirs, nil for ones.
func New(y, weights []float64, ties Ties) *Likelihood {
	l := &Likelihood{n: len(y), order: sorted(y), ties: ties, events: Events(y), weight: weights}
	if weights != nil {
		l.shift = make([]float64, len(weights))
		for i, w := range weights {
			l.shift[i] = math.Log(w)
		}
	}
	for at := 0; at < l.n; {
		t := math.Abs(y[l.order[at]])
		g := group{from: at, time: t}
		for ; at < l.n && math.Abs(y[l.order[at]]) == t; at++ {
			if !math.Signbit(y[l.order[at]]) {
				g.events++
				g.weight += l.weightOf(l.order[at])
			}
		}
		if g.events == 0 {
			continue
		}
		l.groups = append(l.groups, g)
		l.saturated += l.best(g)
	}
	return l
}

// weightOf is that of row i.
func (l *Likelihood) weightOf(i int) float64 { return Part{Weights: l.weight}.weight(i) }

// best is what a model that is right about every row has for a group.
func (l *Likelihood) best(g group) float64 {
	sum := -g.weight * math.Log(g.weight)
	if l.ties == Efron { // the shares of the d terms have the product d! / d^d
		d := float64(g.events)
		v, _ := math.Lgamma(d + 1)
		sum -= g.weight / d * (v - d*math.Log(d))
	}
	return sum
}

// Weight is the sum of the weights of the rows with an event.
func (l *Likelihood) Weight() (sum float64) {
	for _, g := range l.groups {
		sum += g.weight
	}
	return sum
}

// Terms is the number of terms.
func (l *Likelihood) Terms() (n int) {
	for _, g := range l.groups {
		k, _ := l.terms(g)
		n += k
	}
	return n
}

// Point is what the likelihood needs at values f of the rows. Risks are shares: whatever the sizes of f, none is larger
// than 1.
type Point struct {
	l *Likelihood
	f []float64
	g []float64 // f with the logarithms of the weights
	// ratio is the share of the row at a position in the risk of that position and all later ones, tied that in the risk
	// of the events of its time.
	ratio, tied []float64
	logs        []float64 // of the sums of risks, for each term
	part        []float64 // of each term: the share of the events of its time in its sum
	// HalfDeviance is that of the likelihood: its logarithm for a model that is right about every row, less its own. It is
	// not negative.
	HalfDeviance float64
}

// At is the point at f, which it keeps. It may use the memory of an old one.
func (l *Likelihood) At(f []float64, old *Point) *Point {
	p := old
	if p == nil || p.l != l {
		terms := l.Terms()
		p = &Point{l: l, ratio: make([]float64, l.n), tied: make([]float64, l.n), logs: make([]float64, terms),
			part: make([]float64, terms)}
	}
	if p.f, p.g, p.HalfDeviance = f, f, l.saturated; l.weight != nil {
		p.g = floats.AddTo(make([]float64, l.n), f, l.shift)
	}
	risk := none
	term := len(p.logs)
	at := l.n
	later := func(to int) {
		for at--; at >= to; at-- {
			p.ratio[at] = risk.add(p.g[l.order[at]])
		}
		at++
	}
	for k := len(l.groups) - 1; k >= 0; k-- {
		g := l.groups[k]
		later(g.from + g.events)
		rest := risk
		later(g.from)
		own := p.tie(g)
		count, m := l.terms(g)
		term -= count
		for j := range count {
			total, part := risk, own
			if j > 0 {
				part, total = own+math.Log(g.share(j)), rest
				total.add(part)
			}
			p.logs[term+j] = total.top + math.Log(total.sum)
			p.part[term+j] = math.Exp(part - p.logs[term+j])
			p.HalfDeviance += m * p.logs[term+j]
		}
	}
	return p
}

// total is exp(top) sum, the largest exponential of a sum and what it is times that.
type total struct{ top, sum float64 }

// none is that of no exponentials.
var none = total{math.Inf(-1), 0}

// add adds exp(v), and returns the share that it has in the sum.
func (t *total) add(v float64) (share float64) {
	e := 1.0
	if v > t.top {
		t.sum, t.top = t.sum*math.Exp(t.top-v)+1, v
	} else {
		e = math.Exp(v - t.top)
		t.sum += e
	}
	return e / t.sum
}

// tie sets the shares of the events of a group in their risk, takes their values off, and returns the logarithm of that
// risk.
func (p *Point) tie(g group) float64 {
	rows := p.l.order[g.from : g.from+g.events]
	top := math.Inf(-1)
	for _, i := range rows {
		top = math.Max(top, p.g[i])
		p.HalfDeviance -= p.l.weightOf(i) * p.f[i]
	}
	sum := 0.0
	for k, i := range rows {
		p.tied[g.from+k] = math.Exp(p.g[i] - top)
		sum += p.tied[g.from+k]
	}
	for k := range rows {
		p.tied[g.from+k] /= sum
	}
	return top + math.Log(sum)
}

// Slopes sets u to the derivatives of the logarithm of the likelihood in f, and a to w_i 1{i in D} - u_i, the sums of
// the shares of a row in the terms. Minus the second derivatives are diag(a) - sum_k m_k p_k p_k', with the shares p_k
// of the rows in term k.
func (p *Point) Slopes(u, a []float64) {
	l := p.l
	before := none // sum m_k / exp(logs_k) over the times so far
	term, at := 0, 0
	set := func(to int, hazard total, event float64) {
		for ; at < to; at++ {
			i := l.order[at]
			a[i] = math.Exp(p.g[i]+hazard.top) * hazard.sum
			u[i] = event*l.weightOf(i) - a[i]
		}
	}
	for _, g := range l.groups {
		set(g.from, before, 0)
		count, m := l.terms(g)
		own := before // for the events
		for k := range count {
			one := math.Log(m) - p.logs[term+k]
			if before.add(one); k == 0 {
				own = before
			} else {
				own.add(one + math.Log(g.share(k)))
			}
		}
		term += count
		set(g.from+g.events, own, 1)
	}
	set(l.n, before, 0)
}

// Means sets out to the means of values of the rows by the shares of each term.
func (p *Point) Means(out, values []float64) {
	l := p.l
	mean, at := 0.0, l.n
	later := func(to int) {
		for at > to {
			at--
			mean += p.ratio[at] * (values[l.order[at]] - mean)
		}
	}
	term := len(p.logs)
	for k := len(l.groups) - 1; k >= 0; k-- {
		g := l.groups[k]
		later(g.from + g.events)
		rest, own := mean, 0.0
		later(g.from)
		for at := g.from; at < g.from+g.events; at++ {
			own += p.tied[at] * values[l.order[at]]
		}
		count, _ := l.terms(g)
		term -= count
		for j := range count {
			out[term+j] = rest + p.part[term+j]*(own-rest)
		}
	}
}

// Weights are the m of the terms.
func (l *Likelihood) Weights() []float64 {
	out := make([]float64, 0, l.events)
	for _, g := range l.groups {
		count, m := l.terms(g)
		for range count {
			out = append(out, m)
		}
	}
	return out
}

// HalfDeviance is that of values f.
func (l *Likelihood) HalfDeviance(f []float64) float64 { return l.At(f, nil).HalfDeviance }

// EventLosses are the parts of the half deviance that belong to the events by unit of weight, in the order of their
// times, those of one time being its mean, and the weights of these events, nil for ones.
func (p *Point) EventLosses() (losses, weights []float64) {
	l := p.l
	losses = make([]float64, 0, l.events)
	term := 0
	for _, g := range l.groups {
		count, m := l.terms(g)
		own := l.best(g) + m*floats.Sum(p.logs[term:term+count])
		rows := l.order[g.from : g.from+g.events]
		for _, i := range rows {
			own -= l.weightOf(i) * p.f[i]
		}
		term += count
		for _, i := range rows {
			losses = append(losses, own/g.weight)
			if l.weight != nil {
				weights = append(weights, l.weight[i])
			}
		}
	}
	return losses, weights
}
