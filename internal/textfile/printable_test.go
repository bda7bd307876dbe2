package textfile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The characters of Unicode Standard Annex 9, section 2, and the controls of ISO 6429; what is shown is Go's own
// notation of a character.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"Größe (µg/l), 体重\n\tшт 👩‍🔬": "Größe (µg/l), 体重\n\tшт 👩‍🔬",
		"\ufffd":                  "\ufffd",
		"a\x1b[31mb\x07c\rd\x00e": `a\x1b[31mb\ac\rd\x00e`,
		"\x7f\u0085\u009b2J":      `\x7f\u0085\u009b2J`,
		"a\x9b2J\xff\xc3":         `a\x9b2J\xff\xc3`,
		"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069": `\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069`,
		"a\u2028b\u2029": `a\u2028b\u2029`,
	} {
		require.Equal(t, want, Printable(text))
		require.Equal(t, want, Printable(want))
	}
}
