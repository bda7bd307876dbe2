package csvfile

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats/textfile"
	"github.com/conetune/conetune/internal/readertest"
)

// FuzzRead: what was read can be written, if the names can, and is the same when it is read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "y,a\n1,2\n", "\xef\xbb\xbfy,\"a,b\"\r\n1e400,2", "0,1\n\"3\", \"4\"\n", "y,a\n1,nan\n", "\x1f\x8b\x08\x00", "y;a\n", "y,\"a\n\"\n",
		"\f\n\u00a0y\v,\"a\"\ufeff\n\v\n\u00a01,\"\u00a02 \"\f\n", "y,a\n1e154,1\n", "y,a,b\n\"1\"\"\",,\n"} {
		f.Add([]byte(seed), "", false, false)
		f.Add([]byte(seed), "a", true, true)
	}
	f.Add([]byte("y,a\n1,2\n"), strings.Repeat("\xbb", 9000), false, false)
	f.Fuzz(func(t *testing.T, text []byte, target string, optional, bounded bool) {
		o := Options{Target: target, TargetOptional: optional}
		if bounded {
			o.Largest = textfile.LargestEntry
		}
		var got *Table
		if !readertest.Read(t, "f.csv", text, func(s *textfile.Source) (err error) { got, err = ReadSource(s, o); return err }) {
			return
		}
		var b bytes.Buffer
		if Encode(&b, got) != nil {
			return
		}
		if got.Y != nil {
			o.Target = got.Target
		}
		again, err := Decode("f.csv", &b, o)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(got.X, again.X) || !slices.Equal(got.Y, again.Y) || !slices.Equal(got.Features, again.Features) {
			t.Fatal("the round trip changes the table")
		}
	})
}
