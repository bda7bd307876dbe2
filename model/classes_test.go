package model

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/must"
)

func ofClasses() Model {
	return Model{
		Model: "multinomial", Target: "kind", Features: []string{"a"}, Coefficients: []float64{1, 0, -1},
		Targets: []string{"x", "y", "z"}, Intercepts: []float64{0, 0.5, 0},
		Labels: []float64{0, 1, 2}, Loss: &Loss{Kind: Multinomial},
	}
}

// A model of classes comes back as it was written, and predicts, scores and gives probabilities by the definition.
func TestClasses(t *testing.T) {
	m := ofClasses()
	var text bytes.Buffer
	require.NoError(t, m.Write(&text))
	got := must.Of(ReadFrom(&text, "m.json"))(t)
	require.True(t, got.Classes())
	values := must.Of(got.PredictTargets([]float64{2}))(t)
	require.Equal(t, []float64{2, 0.5, -2}, values)
	require.Equal(t, 0.0, got.Class(values))
	total := math.Exp(2) + math.Exp(0.5) + math.Exp(-2)
	require.InDelta(t, math.Exp(0.5)/total, evaluate.Softmax(values)[1], 1e-15)
	s := got.NewScore()
	s.AddTargets(values, []float64{1}, 1)
	s.AddTargets(values, []float64{7}, 1)
	s.AddTargets(values, []float64{math.NaN()}, 1)
	require.Equal(t, 1, s.Rows)
	require.Equal(t, 1, s.Strange)
	require.InDelta(t, math.Log(total)-0.5, s.Error(), 1e-15)
	require.Equal(t, 1.0, s.ErrorRate())
}
