package model

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
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

// A coefficient is chosen by the fits in which it counts, whatever the unit of its feature.
func TestStability(t *testing.T) {
	rows := &dataset.Data{X: mat.NewDense(3, 2, []float64{1, 1000, 2, 3000, 4, 2000}), Y: []float64{1, 2, 3}}
	fit := func(a, b float64) problems.Fit {
		return problems.Fit{Features: []string{"a", "b"}, Coefficients: []float64{a, b}}
	}
	fits := []problems.Fit{fit(1, 1e-5), fit(1e-12, 1), fit(0, 0)}
	require.InDeltaSlice(t, []float64{1. / 3, 2. / 3}, Stability(fits, rows.Deviations()), 1e-15)
}

// Effects compare coefficients by the units of their features, with several targets by the norm over these.
func TestEffects(t *testing.T) {
	f := problems.Fit{Features: []string{"a", "b", "c"}, Coefficients: []float64{2, -3, 0}}
	require.Equal(t, []Effect{{"a", 0, 2, 20}, {"b", 1, -3, 3}}, Effects(f, Sizes(f, []float64{10, 1, 5})))
	require.Equal(t, []Effect{{"b", 1, -3, 3}, {"a", 0, 2, 2}}, Effects(f, Sizes(f, nil)))
	f.Targets, f.Coefficients = []string{"y", "z"}, []float64{3, 4, 0, 0, 1, 0}
	require.Equal(t, []Effect{{"c", 2, 1, 10}, {"a", 0, 3, 5}}, Effects(f, Sizes(f, []float64{1, 1, 10})))
}

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

// Predictions have the digits of the model's own numbers, where terms cancel, too.
func TestPredictionsOfTermsThatCancel(t *testing.T) {
	m := &Model{Intercept: 643688.7179539967, Coefficients: []float64{-320.23394762995736, -10.313724931308853}}
	for year := range 10 {
		row := []float64{float64(1995 + year), 63.1}
		exact := big.NewFloat(m.Intercept).SetPrec(400)
		for j, v := range row {
			exact.Add(exact, new(big.Float).SetPrec(400).Mul(big.NewFloat(v), big.NewFloat(m.Coefficients[j])))
		}
		want, _ := exact.Float64()
		got, err := m.Predict(row)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// wide is a model of many features with three coefficients that are not zero.
func wide(named bool) Model {
	m := sample()
	m.Features, m.Coefficients = libsvm.Names(100_000), make([]float64, 100_000)
	if named {
		m.Features[7] = "other"
	}
	m.Coefficients[0], m.Coefficients[4], m.Coefficients[99_999] = 1.5, -2, 1.0/3
	return m
}

// A file of many zeros is small, unless the features have names of their own, and gives back the model.
func TestCompact(t *testing.T) {
	for _, named := range []bool{false, true} {
		m := wide(named)
		s := text(t, m)
		if !named {
			require.Less(t, len(s), 2000)
		}
		require.Contains(t, s, `"compact"`)
		got := must.Of(Decode([]byte(s), "m.json"))(t)
		require.Equal(t, m.Features, got.Features)
		require.Equal(t, m.Coefficients, got.Coefficients)
		require.Nil(t, got.Compact)
		require.Equal(t, s, text(t, *got))
	}
	m := wide(false)
	for j := range m.Coefficients {
		m.Coefficients[j] = 1
	}
	require.NotContains(t, text(t, m), `"compact"`)
}

// What is no compact model is refused: numbers that do not rise or are too large, and lists of different lengths.
func TestCompactStrict(t *testing.T) {
	for want, c := range map[string]Compact{
		"feature 3 after 3, expected rising numbers up to 200": {Features: 200, Index: []int{3, 3}, Coefficients: []float64{1,
			1}},
		"feature 0 after 0":            {Features: 200, Index: []int{0}, Coefficients: []float64{1}},
		"feature 201 after 0":          {Features: 200, Index: []int{201}, Coefficients: []float64{1}},
		"1 coefficients for 2 of them": {Features: 200, Index: []int{1, 2}, Coefficients: []float64{1}},
		"-1 features, expected from 0": {Features: -1},
		"expected from 0 to 20000000":  {Features: 2_000_000_000, Index: []int{1}, Coefficients: []float64{1}},
		"2 names of 200 features":      {Features: 200, Names: []string{"a", "b"}},
	} {
		m := sample()
		m.complete()
		m.Format, m.Version, m.Features, m.Coefficients, m.Compact = Format, version, nil, nil, &c
		_, err := Decode(sealed(t, m), "m.json")
		require.ErrorContains(t, err, want)
	}
}

// FuzzRead: no bytes make the reader panic; what it takes is written and read back the same; and a model that it took
// predicts finite numbers or says that it cannot.
func FuzzRead(f *testing.F) {
	for _, m := range samples() {
		var b bytes.Buffer
		require.NoError(f, m.Write(&b))
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"format":"conetune-model","version":4,"model":"svm"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode(text, "m.json")
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		var b bytes.Buffer
		require.NoError(t, m.Write(&b))
		again := must.Of(Decode(b.Bytes(), "m.json"))(t)
		m.complete()
		m.Version, m.Checksum = again.Version, again.Checksum
		require.Equal(t, m, again)

		row := slices.Repeat([]float64{1}, len(m.Features))
		var values []float64
		switch {
		case m.Matrix != nil:
			var v float64
			v, err = m.Entry(len(m.Matrix.RowEffects)-1, len(m.Matrix.ColEffects)-1)
			values = []float64{v}
		case m.Targets != nil:
			values, err = m.PredictTargets(row)
		default:
			var v float64
			v, err = m.Predict(row)
			values = []float64{v}
		}
		for _, v := range values {
			require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "%v, error %v", v, err)
		}
	})
}
