package paper

import "time"

// estimate foresees how long the rest of the work takes: for each item the mean time of the same line with other seeds, or of all
// items done where there is none.
type estimate struct {
	all, workers int
	todo         []Item
	done         map[Item]bool
	lines        map[Item]mean // by the item with the seed 0
	total        mean
}

type mean struct {
	sum float64
	n   int
}

func (m mean) value() float64 { return m.sum / float64(m.n) }

func (e *estimate) add(i Item, seconds float64) {
	if e.done == nil {
		e.done, e.lines = make(map[Item]bool), make(map[Item]mean)
	}
	e.done[i] = true
	i.Seed = 0
	m := e.lines[i]
	e.lines[i] = mean{m.sum + seconds, m.n + 1}
	e.total = mean{e.total.sum + seconds, e.total.n + 1}
}

func (e *estimate) progress() Progress {
	p := Progress{Done: len(e.done), All: e.all}
	if e.total.n == 0 {
		return p
	}
	seconds := 0.0
	for _, i := range e.todo {
		if e.done[i] {
			continue
		}
		i.Seed = 0
		if m, ok := e.lines[i]; ok {
			seconds += m.value()
		} else {
			seconds += e.total.value()
		}
	}
	p.Left = time.Duration(seconds / float64(e.workers) * float64(time.Second))
	return p
}
