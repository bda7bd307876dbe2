package memory

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "1000": 1000, "12B": 12, "4GB": 4e9, "4G": 4e9, "4 gb": 4e9, "500MB": 5e8, "1.5GiB": 3 << 29,
		"64MiB": 64 << 20,
		"2k":    2000, "0.5K": 500, "2TB": 2e12, "1TiB": 1 << 40,
	} {
		n, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "GB", "-1", "-4GB", "4XB", "1e9", "nan", "inf", "0x10", "4GB4", "1..5", "1_000",
		"4  GB", "٣MB"} {
		_, err := Parse(text)
		require.ErrorContains(t, err, "expected a size such as 500MB", text)
	}
	for _, text := range []string{"0", "0GB", "0.1", "9300000TB", "99999999999999999999999"} {
		_, err := Parse(text)
		require.ErrorContains(t, err, "expected a size from 1 byte", text)
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1 kB", 1500: "1.5 kB", 999_499: "999 kB", 999_500: "1 MB", 64 << 20: "67.1 MB",
		6_900_000_000: "6.9 GB", 999e9: "999 GB", 23e11: "2.3 TB", math.MaxInt64: "9223372.0 TB",
	} {
		require.Equal(t, want, Format(n))
	}
}

func TestDefault(t *testing.T) {
	old := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(old)
	require.Positive(t, Available())
	require.Equal(t, Available()/2, Default())
	debug.SetMemoryLimit(123 << 20)
	require.EqualValues(t, 123<<20, Default())
}
