package groups

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
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
		require.NoError(t, g.Check(len(features), overlap))
		var out bytes.Buffer
		require.NoError(t, Encode(&out, g, features))
		s := must.Of(textfile.NewSource("again", strings.NewReader(out.String())))(t)
		again := must.Of(readSource(s, features, overlap))(t)
		if !reflect.DeepEqual(g, again) {
			t.Fatalf("%v became %v", g, again)
		}
	})
}
