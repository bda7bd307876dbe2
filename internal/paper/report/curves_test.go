package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/paper"
)

func value(v float64) *float64 { return &v }

func point(s, v float64) paper.Point {
	return paper.Point{Seconds: s, Iterate: paper.Errors{Validation: value(v)}}
}

var iterates = validation(func(p *paper.Point) *paper.Errors { return &p.Iterate })

// Two runs that reach 4 at 1 s and 2 at 3 s, and 6 at 2 s, and one that failed.
func TestMean(t *testing.T) {
	r := runs{{point(1, 4), point(3, 2)}, {{Seconds: 0.5}, point(2, 6), point(2.5, 6)}, {{Seconds: 7}}, nil}
	from, to, ok := r.span(seconds, iterates)
	require.True(t, ok)
	require.Equal(t, 2.0, from, "from where both have a value")
	require.Equal(t, 3.0, to, "to the end of the longest that has one")
	for at, want := range map[float64]float64{2: 5, 2.9: 5, 3: 4, 100: 4} {
		require.Equal(t, want, r.mean(at, seconds, iterates), "at %g", at)
	}
	require.True(t, math.IsNaN(r.mean(1, seconds, iterates)), "the second has nothing yet")
	_, _, ok = runs{{{Seconds: 7}}, nil}.span(seconds, iterates)
	require.False(t, ok)
	require.True(t, math.IsNaN(runs{}.mean(1, seconds, iterates)))
}

// Where a reading is known at the end only, the mean is there from the last end on.
func TestMeanOfEnds(t *testing.T) {
	r := runs{{{Seconds: 1}, point(2, 1)}, {{Seconds: 1}, point(4, 3)}}
	from, to, _ := r.span(seconds, iterates)
	require.Equal(t, []float64{4, 4}, []float64{from, to})
	require.Equal(t, 2.0, r.mean(4, seconds, iterates))
}

func TestPlaces(t *testing.T) {
	require.InDeltaSlice(t, []float64{0.01, 0.1, 1, 10}, logarithmic(0.01, 10, 4), 1e-12)
	require.Equal(t, []float64{3}, logarithmic(3, 3, 4))
	require.Equal(t, []float64{3}, logarithmic(0, 3, 4))
	require.Equal(t, []float64{1, 2, 3}, whole(1, 3, 40))
	require.Equal(t, []float64{1, 4, 7, 10}, whole(1, 10, 4))
	require.Equal(t, []float64{5}, whole(5, 5, 40))
}
