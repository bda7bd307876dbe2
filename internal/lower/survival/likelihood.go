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
	terms     int
	saturated float64
	// weight are those of the rows, nil for ones, and shift their logarithms.
	weight, shift []float64
}

// group are the events of one time, at positions from on in the order, all later ones being at risk.
type group struct {
	from, events int
	time         float64
	weight       float64 // of the events
	term, terms  int     // the first term, and how many there are
	m            float64 // of each of them
}

// share is c_k.
func (g group) share(k int) float64 { return 1 - float64(k)/float64(g.events) }

// New takes the times of rows, see [Check], and positive weights of theirs, nil for ones.
func New(y, weights []float64, ties Ties) *Likelihood {
	l := &Likelihood{n: len(y), order: sorted(y), ties: ties, weight: weights}
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
		g.term, g.terms, g.m = l.terms, 1, g.weight
		if ties == Efron {
			g.terms, g.m = g.events, g.weight/float64(g.events)
		}
		l.terms += g.terms
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
		p = &Point{l: l, ratio: make([]float64, l.n), tied: make([]float64, l.n), logs: make([]float64, l.terms),
			part: make([]float64, l.terms)}
	}
	if p.f, p.g, p.HalfDeviance = f, f, l.saturated; l.weight != nil {
		p.g = floats.AddTo(make([]float64, l.n), f, l.shift)
	}
	risk := none
	at := l.n
	later := func(to int) {
		for at--; at >= to; at-- {
			p.ratio[at] = risk.add(p.g[l.order[at]])
		}
		at++
	}
	for _, g := range slices.Backward(l.groups) {
		later(g.from + g.events)
		rest := risk
		later(g.from)
		own := p.tie(g)
		for j := range g.terms {
			total, part := risk, own
			if j > 0 {
				part, total = own+math.Log(g.share(j)), rest
				total.add(part)
			}
			term := g.term + j
			p.logs[term] = total.top + math.Log(total.sum)
			p.part[term] = math.Exp(part - p.logs[term])
			p.HalfDeviance += g.m * p.logs[term]
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
	at := 0
	set := func(to int, hazard total, event float64) {
		for ; at < to; at++ {
			i := l.order[at]
			a[i] = math.Exp(p.g[i]+hazard.top) * hazard.sum
			u[i] = event*l.weightOf(i) - a[i]
		}
	}
	for _, g := range l.groups {
		set(g.from, before, 0)
		own := before // for the events
		for k := range g.terms {
			one := math.Log(g.m) - p.logs[g.term+k]
			if before.add(one); k == 0 {
				own = before
			} else {
				own.add(one + math.Log(g.share(k)))
			}
		}
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
	for _, g := range slices.Backward(l.groups) {
		later(g.from + g.events)
		rest, own := mean, 0.0
		later(g.from)
		for at := g.from; at < g.from+g.events; at++ {
			own += p.tied[at] * values[l.order[at]]
		}
		for term := g.term; term < g.term+g.terms; term++ {
			out[term] = rest + p.part[term]*(own-rest)
		}
	}
}

// Weights are the m of the terms.
func (l *Likelihood) Weights() (list []float64) {
	for _, g := range l.groups {
		list = append(list, slices.Repeat([]float64{g.m}, g.terms)...)
	}
	return list
}

// HalfDeviance is that of values f.
func (l *Likelihood) HalfDeviance(f []float64) float64 { return l.At(f, nil).HalfDeviance }

// EventLosses are the parts of the half deviance that belong to the events by unit of weight, in the order of their
// times, those of one time being its mean, and the weights of these events, nil for ones.
func (p *Point) EventLosses() (losses, weights []float64) {
	l := p.l
	for _, g := range l.groups {
		own := l.best(g) + g.m*floats.Sum(p.logs[g.term:g.term+g.terms])
		rows := l.order[g.from : g.from+g.events]
		for _, i := range rows {
			own -= l.weightOf(i) * p.f[i]
		}
		for _, i := range rows {
			losses = append(losses, own/g.weight)
			if l.weight != nil {
				weights = append(weights, l.weight[i])
			}
		}
	}
	return losses, weights
}
