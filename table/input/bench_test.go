package input

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/conetune/conetune/internal/readertest"
)

// BenchmarkReadFile reads files of 32 MB, dense and of few numbers beside zeros, into data. With -cpu 1 it is the rate
// of one core.
func BenchmarkReadFile(b *testing.B) {
	for _, c := range []struct {
		p     int
		share float64 // of numbers that are not 0
	}{{100, 1}, {1000, 0.02}} {
		r := rand.New(rand.NewPCG(1, 2))
		text := []byte("y")
		for j := range c.p {
			text = strconv.AppendInt(append(text, ",x"...), int64(j)+1, 10)
		}
		for len(text) < 32<<20 {
			text = strconv.AppendFloat(append(text, '\n'), r.NormFloat64(), 'g', 17, 64)
			for range c.p {
				if text = append(text, ','); r.Float64() < c.share {
					text = strconv.AppendFloat(text, r.NormFloat64(), 'g', 6+r.IntN(12), 64)
				} else {
					text = append(text, '0')
				}
			}
		}
		b.Run(fmt.Sprintf("p=%d/share=%g", c.p, c.share), func(b *testing.B) {
			readertest.Benchmark(b, "f.csv", append(text, '\n'), func(path string) error {
				_, err := ReadFile(path, "")
				return err
			})
		})
	}
}
