package groups

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
)

// FuzzRead: what is read are groups of the features, and they are the same when they are written and read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "group\n1\n0\n1\n", "feature,group\na,1\n\"b,c\",2\nd,1\n",
		"group,feature\n1,d\n1,a\n2,\"b,c\"\n3,a\n", "group\n-1\n", "group\n99999999999999999999\n",
		"\f\n\u00a0group\u00a0\n\v1\ufeff\n2\n2\n", "feature,group\n\"a\n", "\x1f\x8b\x08"} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	features := []string{"a", "b,c", "d"}
	f.Fuzz(func(t *testing.T, text []byte, overlap bool) {
		var g *Groups
		if !readertest.Read(t, "groups.csv", text, func(s *textfile.Source) (err error) {
			g, err = readSource(s, features,
				overlap)
			return err
		}) {
			return
		}
		if err := g.Check(len(features), overlap); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Encode(&out, g, features); err != nil {
			t.Fatal(err)
		}
		s, err := textfile.NewSource("again", strings.NewReader(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		again, err := readSource(s, features, overlap)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(g, again) {
			t.Fatalf("%v became %v", g, again)
		}
	})
}
