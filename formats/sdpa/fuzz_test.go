package sdpa

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/conetune/conetune/formats/textfile"
	"github.com/conetune/conetune/internal/readertest"
)

// FuzzRead: what is read is a valid program, or one that is too large, and is the same after it was written and read again.
func FuzzRead(f *testing.F) {
	readertest.Seeds(f, files, texts...)
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}

// TestMutations asks the same of texts made of whole lines and words.
func TestMutations(t *testing.T) {
	words := []string{"4", "5", "-2", "-3", "1 1 1 1 1\n", "2 1 2 1 1\n", "1 1 1 2 1\n", "{", "}", "=mDIM", "\"c\n"}
	readertest.Mutations(readertest.Texts(t, files, texts), words, readertest.Count(), func(text []byte) bool { return check(t, text) })
}

var (
	files = []string{"testdata/small.dat-s"}
	texts = []string{
		"1\n1\n2\n1\n1 1 1 2 1\n1 1 2 1 1\n", "1\n1\n23000\n1\n0 1 1 1 1\n", "1\n1\n-2147483647\n1\n", "0\n3\n2147483647 1 -1\n",
		"\"comment\n2 =mDIM\n2 =nBLOCK\n(2, -3)\n{1.0,2.0}\n0 1 1 2 1.5D0\n1 2 3 3 1e308\n1 2 3 3 1e308\n",
		"1\n\f1\n\u00a02\v\n1\n\ufeff\n1 1 1 1\u00a01\n", "2147483647\n1\n1\n1\n",
	}
)

func check(t *testing.T, text []byte) bool {
	var m *Model
	ok := readertest.Read(t, "fuzz.dat-s", text, func(s *textfile.Source) (err error) {
		if m, err = ReadSource(s); err != nil {
			return err
		}
		if p, err := m.Conic(); err == nil {
			if err := p.Problem.Validate(); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	})
	if !ok {
		return false
	}
	var out bytes.Buffer
	if err := Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	again, err := Decode("again.dat-s", &out)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(m) != fmt.Sprint(again) {
		t.Fatal("the round trip changes the model")
	}
	return true
}
