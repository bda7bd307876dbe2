package libsvm

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
)

// benchmarkText has rows with nonzeros at so many of p features, numbers of a random count of significant digits from
// low to high.
func benchmarkText(size, nonzeros, p, low, high int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for i := 0; len(text) < size; i++ {
		text = strconv.AppendInt(text, int64(1-2*(i%2)), 10)
		for k := range nonzeros {
			j := k*p/nonzeros + r.IntN(p/nonzeros) // one of each stretch, so that they are in order
			text = strconv.AppendInt(append(text, ' '), int64(j)+1, 10)
			text = strconv.AppendFloat(append(text, ':'), r.NormFloat64(), 'g', low+r.IntN(high-low+1), 64)
		}
		text = append(text, '\n')
	}
	return text
}

// BenchmarkRead reads files of 32 MB into sparse rows. With -cpu 1 it is the rate of one core.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		rows                   string
		nonzeros, p, low, high int
	}{
		{"dense", 100, 100, 6, 6},
		{"dense", 100, 100, 6, 17},
		{"dense", 100, 100, 17, 17},
		{"sparse", 60, 100_000, 6, 6},
		{"sparse", 60, 100_000, 6, 17},
	} {
		b.Run(fmt.Sprintf("rows=%s/p=%d/digits=%d-%d", c.rows, c.p, c.low, c.high), func(b *testing.B) {
			text := benchmarkText(32<<20, c.nonzeros, c.p, c.low, c.high)
			readertest.Benchmark(b, "f", text, func(path string) error {
				f, err := textfile.ReadFile(path, Read)
				if err == nil {
					_, err = f.Matrix(1, c.p)
				}
				return err
			})
		})
	}
}
