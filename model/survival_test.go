package model

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/table"
)

func ofTimes() Model {
	return Model{
		Model: "cox", Target: "days", Features: []string{"a"}, Coefficients: []float64{0.5}, Intercept: -1,
		Loss:     &Loss{Kind: Cox, Ties: "efron"},
		Baseline: &survival.Baseline{Times: []float64{1, 4}, Hazard: []float64{0.1, 0.3}},
		Encoding: &table.Encoder{Columns: []table.Coding{{Column: "a", Kind: table.Number}}, Rule: table.Median,
			Event: &table.Event{Column: "dead", Value: "yes", Others: []string{"no"}}},
	}
}

// A model of times comes back as it was written, and scores rows by their deviance for each event: of times 1, 2 and 3,
// the second one censored, log of the three risks over the first one, twice.
func TestTimes(t *testing.T) {
	m := ofTimes()
	var text bytes.Buffer
	require.NoError(t, m.Write(&text))
	got := must.Of(ReadFrom(&text, "m.json"))(t)
	require.True(t, got.Times())
	require.Equal(t, m.Baseline, got.Baseline)
	require.Equal(t, m.Encoding, got.Encoding)
	s := got.NewScore()
	for k, y := range []float64{1, -2, 3, math.NaN()} {
		s.Add(float64(k), y)
	}
	require.Equal(t, 3, s.Rows)
	require.InDelta(t, math.Log(1+math.E+math.Exp(2)), s.Error(), 1e-14) // half of it for each of the two events
	c, _ := s.Concordance()
	require.Zero(t, c)
}
