package words

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A value has the decimals of a standard error of two digits.
func TestPlusMinus(t *testing.T) {
	nan := math.NaN()
	for want, v := range map[string][2]float64{
		"12.1 ± 1.2": {12.1259, 1.22}, "1.9960 ± 0.0049": {1.996, 0.0049}, "0.5768 ± 0.0057": {0.576771, 0.00567},
		"1652 ± 305":   {1652.3, 305},
		"-0.01 ± 0.36": {-0.0123, 0.361}, "0.8": {0.8, nan}, "0.8 ± 0": {0.8, 0}, "1.235e+08 ± 3123457": {123456789,
			3123456.7}, "-": {nan, nan},
	} {
		require.Equal(t, want, PlusMinus(v[0], v[1]))
	}
}
