package webpage

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// luminance is the relative luminance of #rrggbb or #rgb by WCAG 2.2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	hex := colour[1:]
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	require.Len(t, hex, 6)
	sum := 0.0
	for k, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[2*k:2*k+2], 16, 8)
		require.NoError(t, err)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestLuminance(t *testing.T) {
	require.InDelta(t, 21, contrast(t, "#000", "#ffffff"), 1e-9)
	require.InDelta(t, 4.54, contrast(t, "#767676", "#fff"), 0.005) // the published threshold grey
}
