package table

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/conetune/conetune/internal/readertest"
)

// benchmarkText has numbers of 6 to 17 digits, and texts in every so many columns.
func benchmarkText(size, p, texts int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	text := []byte("y")
	for j := range p {
		text = strconv.AppendInt(append(text, ",x"...), int64(j)+1, 10)
	}
	for len(text) < size {
		text = append(text, '\n')
		for j := range p + 1 {
			if j > 0 {
				text = append(text, ',')
			}
			switch {
			case texts > 0 && j%texts == 1 && r.IntN(50) == 0:
				text = append(text, "NA"...)
			case texts > 0 && j%texts == 1:
				text = append(append(text, "level "...), byte('a'+r.IntN(20)))
			default:
				text = strconv.AppendFloat(text, r.NormFloat64(), 'g', 6+r.IntN(12), 64)
			}
		}
	}
	return append(text, '\n')
}

// BenchmarkRead reads files of 32 MB and finds their types. With -cpu 1 it is the rate of one core.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct{ p, texts int }{{100, 0}, {50, 5}, {50, 2}} {
		b.Run(fmt.Sprintf("p=%d/texts=%d", c.p, c.texts), func(b *testing.B) {
			readertest.Benchmark(b, "f.csv", benchmarkText(32<<20, c.p, c.texts), func(path string) error {
				_, err := Read(path, Options{})
				return err
			})
		})
	}
}
