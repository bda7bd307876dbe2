package worklist

import "time"

// Progress is how far the work is.
type Progress struct {
	// Done and All count items, those done by earlier runs included.
	Done, All int
	// Left is an estimate of the time that the rest takes; 0 as long as nothing is known.
	Left time.Duration
}

// estimate foresees how long the rest of the work takes: for each item the mean time of those of the same line, or of all
// items done where there is none.
type estimate[I comparable] struct {
	all, workers int
	todo         map[I]int // by line, how many are left
	lines        map[I]mean
	done         int
	total        mean
	line         func(I) I
}

type mean struct {
	sum float64
	n   int
}

func (m mean) value() float64 { return m.sum / float64(m.n) }

func (m mean) with(v float64) mean { return mean{m.sum + v, m.n + 1} }

// plan adds an item that is to be done.
func (e *estimate[I]) plan(i I) {
	if e.todo == nil {
		e.todo = make(map[I]int)
	}
	e.todo[e.line(i)]++
}

// add adds an item that is done; planned says that it was to be.
func (e *estimate[I]) add(i I, seconds float64, planned bool) {
	if e.lines == nil {
		e.lines = make(map[I]mean)
	}
	line := e.line(i)
	e.lines[line] = e.lines[line].with(seconds)
	e.total = e.total.with(seconds)
	e.done++
	if planned {
		if e.todo[line]--; e.todo[line] == 0 {
			delete(e.todo, line)
		}
	}
}

func (e *estimate[I]) progress() Progress {
	p := Progress{Done: e.done, All: e.all}
	if e.total.n == 0 {
		return p
	}
	seconds := 0.0
	for line, n := range e.todo {
		m, ok := e.lines[line]
		if !ok {
			m = e.total
		}
		seconds += float64(n) * m.value()
	}
	p.Left = time.Duration(seconds / float64(e.workers) * float64(time.Second))
	return p
}
