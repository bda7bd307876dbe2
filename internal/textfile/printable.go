package textfile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text in which nothing commands a terminal or turns the order of what is beside it: control characters
// but line ends and tabs, bidirectional marks (Unicode Standard Annex 9, Bidi_Control), separators of lines and bytes
// that are not UTF-8 stand as escapes, \x1b or \u202e. A text without any is returned as it is.
func Printable(text string) string {
	at := strings.IndexFunc(text, commands)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:at])
	for at < len(text) {
		c, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case c != utf8.RuneError && commands(c):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(c), "'"))
		default:
			b.WriteRune(c)
		}
		at += size
	}
	return b.String()
}

// commands says whether a character is none that only shows itself. Bytes that are no UTF-8, which terminals of 8 bits
// may obey, come as utf8.RuneError.
func commands(c rune) bool {
	return c != '\n' && c != '\t' && unicode.IsControl(c) || c == utf8.RuneError ||
		unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}
