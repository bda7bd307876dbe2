// Package readertest is what the fuzz targets of the readers of text files share: a source with a small
// budget of memory, a bound for what is allocated, and what an error must look like.
package readertest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"slices"
	"strconv"
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
	before := allocated()
	s, err := textfile.NewSource(name, bytes.NewReader(text))
	if err == nil {
		s.SetMemory(Memory)
		err = read(s)
	}
	if got := allocated() - before; got > Most {
		t.Fatalf("%d bytes allocated for a file of %d bytes", got, len(text))
	}
	if err != nil {
		checkError(t, name, err)
	}
	return err == nil
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
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
	for _, text := range Texts(f, files, texts) {
		f.Add([]byte(text))
	}
}

// Texts are the contents of the files, and the texts.
func Texts(t testing.TB, files, texts []string) []string {
	t.Helper()
	var all []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return append(all, texts...)
}

// Mutate returns the text with a few of its lines and words repeated, moved, taken away, or replaced by others: by words of the format
// or by numbers at the ends of what can be read. It reaches what changes of single bytes seldom do.
func Mutate(rng *rand.Rand, text string, words []string) string {
	lines := strings.SplitAfter(text, "\n")
	at := func() int { return rng.IntN(len(lines)) }
	for range 1 + rng.IntN(4) {
		switch i := at(); rng.IntN(8) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, at(), lines[i])
		case 2:
			j := at()
			lines[i], lines[j] = lines[j], lines[i]
		case 3: // a block of lines
			j := min(len(lines), i+1+rng.IntN(6))
			lines = slices.Insert(lines, at(), slices.Clone(lines[i:j])...)
		default:
			lines[i] = mutateLine(rng, lines[i], words)
		}
		if len(lines) == 0 {
			lines = []string{"\n"}
		}
	}
	return strings.Join(lines, "")
}

var hostile = []string{"0", "-0", "1", "-1", "2", "3", "0.5", "1e-320", "1e20", "-1e20", "9.9e19", "1e30", "1e70", "1e71", "1e154", "1e308", "-1e308", "1.7976931348623157e308",
	"1e309", "nan", "inf", "-inf", "+Infinity", "1d5", "1e", "2147483647", "2147483648", "4294967296", "9223372036854775808", "65535", "65536", "46341", "23170", "1000000",
	"0x1p3", "1_0", "", "\x00", "\xff", "\v", "\f", "\u00a0", "\ufeff", "\r", "\"", ",", ":", "#", "*"}

func mutateLine(rng *rand.Rand, line string, words []string) string {
	// Every second piece is a word, the others are what stands between them.
	var pieces []string
	start, blank := 0, true
	for i, c := range line {
		if is := c <= ' ' || c == ','; is != blank {
			pieces = append(pieces, line[start:i])
			start, blank = i, is
		}
	}
	pieces = append(pieces, line[start:])
	i := rng.IntN(len(pieces))
	other := hostile[rng.IntN(len(hostile))]
	if len(words) > 0 && rng.IntN(2) == 0 {
		other = words[rng.IntN(len(words))]
	}
	switch rng.IntN(5) {
	case 0:
		pieces = slices.Delete(pieces, i, i+1)
	case 1:
		pieces = slices.Insert(pieces, i, other, " ")
	default:
		pieces[i] = other
	}
	return strings.Join(pieces, "")
}

// Mutations calls check with n mutated texts, each made from one of the seeds or from the last one that check took.
func Mutations(seeds, words []string, n int, check func(text []byte) bool) {
	rng := rand.New(rand.NewPCG(5, 1))
	for k := range n {
		i := rng.IntN(len(seeds))
		text := Mutate(rng, seeds[i], words)
		if check([]byte(text)) && len(text) < 2000 && k%5 == 0 {
			seeds = append(seeds, text)
			if len(seeds) > 1000 {
				seeds = slices.Delete(seeds, 10, 20)
			}
		}
	}
}

// Count is how many mutations a test takes: a few, or the number in the environment variable MUTATIONS.
func Count() int {
	if n, err := strconv.Atoi(os.Getenv("MUTATIONS")); err == nil {
		return n
	}
	return 1000
}
