package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/must"
)

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
