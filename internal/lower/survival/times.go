// Package survival knows times until an event, some of which are censored: the partial likelihood of proportional
// hazards, the baseline hazard, and the concordance of predictions with times.
//
// A time is not negative. A row that was censored, whose event had not come by then, has minus its time, at time 0 the
// negative zero: so one number holds both.
package survival

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/indices"
)

// Row is the number that stands for a time and an event.
func Row(t float64, event bool) float64 {
	if event {
		return math.Abs(t)
	}
	return math.Copysign(t, -1)
}

// Check says what is wrong with times.
func Check(y []float64) error {
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the time of row %d is %g, expected a finite number", i, math.Abs(v))
		}
	}
	return nil
}

// Events counts the rows with an event.
func Events(y []float64) (n int) {
	for _, v := range y {
		if !math.Signbit(v) {
			n++
		}
	}
	return n
}

// sorted are the rows by time, of one time events first, then by number.
func sorted(y []float64) []int {
	order := indices.Range(0, len(y))
	slices.SortFunc(order, func(a, b int) int {
		if c := cmp.Compare(math.Abs(y[a]), math.Abs(y[b])); c != 0 {
			return c
		}
		return cmp.Or(-cmp.Compare(math.Copysign(1, y[a]), math.Copysign(1, y[b])), a-b)
	})
	return order
}
