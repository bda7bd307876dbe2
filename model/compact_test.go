package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/table/libsvm"
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
		require.Contains(t, s, `"version": 3`)
		got, err := Decode([]byte(s), "m.json")
		require.NoError(t, err)
		require.Equal(t, m.Features, got.Features)
		require.Equal(t, m.Coefficients, got.Coefficients)
		require.Nil(t, got.Compact)
		require.Equal(t, s, text(t, *got))
	}
	m := wide(false)
	for j := range m.Coefficients {
		m.Coefficients[j] = 1
	}
	require.Contains(t, text(t, m), `"version": 2`)
}

// What is no compact model is refused: numbers that do not rise or are too large, lists of different lengths, and such lists in a file of version 2.
func TestCompactStrict(t *testing.T) {
	lists := func(features int, index, coefficients string) string {
		return fmt.Sprintf(`"compact": {"features": %d, "index": [%s], "coefficients": [%s]},`, features, index, coefficients)
	}
	s := text(t, wide(false))
	from := strings.Index(s, `"compact"`)
	to := from + strings.Index(s[from:], "},") + 2
	for with, want := range map[string]string{
		lists(200, "3, 3", "1, 1"):        "feature 3 after 3, expected rising numbers up to 200",
		lists(200, "0", "1"):              "feature 0 after 0",
		lists(200, "201", "1"):            "feature 201 after 0",
		lists(200, "1, 2", "1"):           "1 coefficients for 2 of them",
		lists(2_000_000_000, "1", "1"):    "expected at most 20000000",
		lists(2, "1", "1") + `"note": 1,`: `unknown field "note"`,
		``:                                `field "features" is missing`,
	} {
		doc, err := parse([]byte(s[:from] + with + s[to:]))
		require.NoError(t, err)
		sum, err := doc.checksum()
		require.NoError(t, err)
		edited := s[:from] + with + s[to:]
		at := strings.Index(edited, `"sha256:`)
		edited = edited[:at] + `"` + sum + `"` + edited[at+2+len(sum):]
		_, err = Decode([]byte(edited), "m.json")
		require.ErrorContains(t, err, want)
	}
	_, err := Decode([]byte(strings.Replace(s, `"version": 3`, `"version": 2`, 1)), "m.json")
	require.ErrorContains(t, err, `field "features" is missing`)
}
