package program

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "-2.5": -2.5, "+.5": .5, "1.5D+3": 1500, "2d-1": .2, "1e3": 1000, "7.": 7} {
		got, reason := Number([]byte(text))
		assert.Empty(t, reason, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "1.5D", "D5", "nan", "inf", "1e999", "0x1p3", "1_0"} {
		_, reason := Number([]byte(text))
		assert.NotEmpty(t, reason, text)
	}
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "12": 12, "-3": -3, "+4": 4, "2147483647": math.MaxInt32} {
		got, ok := Int([]byte(text))
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", "1.0", "2147483648", "99999999999999999999", "1a"} {
		_, ok := Int([]byte(text))
		assert.False(t, ok, text)
	}
}

func TestIsInfinity(t *testing.T) {
	for text, want := range map[string]float64{"inf": 1, "-Inf": -1, "+INFINITY": 1, "-infinity": -1} {
		got, ok := IsInfinity([]byte(text))
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", "info", "1e30", "nan"} {
		_, ok := IsInfinity([]byte(text))
		assert.False(t, ok, text)
	}
}
