package csvfile

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/conetune/conetune/internal/readertest"
)

// benchmarkText has a target and p features, of which a share is not zero, numbers of a random count of significant digits from
// low to high.
func benchmarkText(size, p int, share float64, low, high int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	text := []byte("y")
	for j := range p {
		text = strconv.AppendInt(append(text, ",x"...), int64(j)+1, 10)
	}
	number := func() { text = strconv.AppendFloat(text, r.NormFloat64(), 'g', low+r.IntN(high-low+1), 64) }
	for len(text) < size {
		text = append(text, '\n')
		number()
		for range p {
			text = append(text, ',')
			if r.Float64() < share {
				number()
			} else {
				text = append(text, '0')
			}
		}
	}
	return append(text, '\n')
}

// BenchmarkReadTable reads files of 32 MB. With -cpu 1 it is the rate of one core.
func BenchmarkReadTable(b *testing.B) {
	for _, c := range []struct {
		name      string
		p         int
		share     float64
		low, high int
		compact   bool
	}{
		{"numeric", 100, 1, 6, 6, false},
		{"numeric", 100, 1, 6, 17, false},
		{"numeric", 100, 1, 17, 17, false},
		{"zeros", 1000, 0.02, 6, 17, false},
		{"zeros", 1000, 0.02, 6, 17, true},
	} {
		b.Run(fmt.Sprintf("rows=%s/p=%d/digits=%d-%d/compact=%t", c.name, c.p, c.low, c.high, c.compact), func(b *testing.B) {
			text := benchmarkText(32<<20, c.p, c.share, c.low, c.high)
			readertest.Benchmark(b, "f.csv", text, func(path string) error {
				if c.compact {
					_, err := ReadCompact(path, Options{})
					return err
				}
				_, err := Read(path, Options{})
				return err
			})
		})
	}
}
