// Package readertest is what the fuzz targets of the readers of text files share: a source with a small
// budget of memory, a bound for what is allocated, and what an error must look like.
package readertest

import (
	"bytes"
	"errors"
	"os"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/conetune/conetune/internal/textfile"
)

// Memory is the budget of a source, and Most what reading and all that is done with the result may allocate.
const (
	Memory = 8 << 20
	Most   = 64 << 20
)

// Read runs read on a source with the text and with the budget, which then must have allocated at most Most, and
// have returned no error or a good one. It says whether there was none.
func Read(t *testing.T, name string, text []byte, read func(s *textfile.Source) error) bool {
	t.Helper()
	var err error
	got := Allocated(func() {
		var s *textfile.Source
		if s, err = textfile.NewSource(name, bytes.NewReader(text)); err == nil {
			s.SetMemory(Memory)
			err = read(s)
		}
	})
	if got > Most {
		t.Fatalf("%d bytes allocated for a file of %d bytes", got, len(text))
	}
	if err != nil {
		checkError(t, name, err)
	}
	return err == nil
}

// Allocated is how many bytes are taken on the way.
func Allocated(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}

// checkError demands the type of all errors about files, the file in it, and one line of text.
func checkError(t *testing.T, name string, err error) {
	t.Helper()
	var known *textfile.Error
	switch {
	case !errors.As(err, &known):
		t.Fatalf("an error of type %T: %v", err, err)
	case known.File != name || !strings.HasPrefix(err.Error(), name+":"):
		t.Fatalf("the error does not name the file: %v", err)
	case known.Reason == "" || len(known.Reason) > 8192 || strings.ContainsAny(known.Error(), "\n\r\x00"):
		t.Fatalf("not one line of text: %q", err)
	}
}

// Seeds adds files, and texts, to the corpus.
func Seeds(f *testing.F, files []string, texts ...string) {
	f.Helper()
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range texts {
		f.Add([]byte(text))
	}
}
