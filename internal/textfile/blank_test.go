package textfile

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// One line of each kind of blank, and of all; what separates words is the same.
func TestBlanks(t *testing.T) {
	blanks := []string{" ", "\t", "\v", "\f", "\r", "\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000",
		"\ufeff"}
	blanks = append(blanks, strings.Join(blanks, ""))
	for _, b := range blanks {
		require.True(t, IsBlank([]byte(b)), "%q", b)
		require.Equal(t, "a"+b+"é", string(Trim([]byte(b+"a"+b+"é"+b+b))), "%q", b)
		var words []string
		for _, w := range Words(nil, []byte(b+"a"+b+b+"é世"+b+"c\xa0"+b)) {
			words = append(words, string(w))
		}
		require.Equal(t, []string{"a", "é世", "c\xa0"}, words, "%q", b)
	}
	require.True(t, IsBlank(nil))
	for _, other := range []string{"a", "\xa0", "\xc2", "\u200b", "\xef\xbb", "é", "\u0000"} {
		require.False(t, IsBlank([]byte(other)), "%q", other)
		require.Zero(t, LeadingBlank([]byte(other)))
		require.Equal(t, other, string(Trim([]byte(other))))
		require.Len(t, Words(nil, []byte(other)), 1)
	}
	// The package unicode is the judge of all characters but the byte order mark.
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if want := unicode.IsSpace(c) || c == '\ufeff'; want != IsBlank([]byte(string(c))) {
			t.Fatalf("%U", c)
		}
	}
}
