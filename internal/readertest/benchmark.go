package readertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/conetune/conetune/internal/cputime"
)

// Benchmark measures the reading of a file with the text: megabytes a second of the clock and, as MB/cpu-s where the
// system tells, a second of processor time, which other work on the machine changes less.
func Benchmark(b *testing.B, name string, text []byte, read func(path string) error) {
	path := filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	before, _ := cputime.Seconds()
	for b.Loop() {
		if err := read(path); err != nil {
			b.Fatal(err)
		}
	}
	if after, ok := cputime.Seconds(); ok && after > before {
		b.ReportMetric(float64(len(text))*float64(b.N)/1e6/(after-before), "MB/cpu-s")
	}
}
