package textfile

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// isBlank says whether the character is a blank, see the package comment.
func isBlank(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }

// LeadingBlank returns the length in bytes of the blank that the text starts with, 0 where it
// starts with something else or is empty.
func LeadingBlank(text []byte) int {
	if c, size := utf8.DecodeRune(text); isBlank(c) {
		return size
	}
	return 0
}

// TrimLeft takes the blanks at the start away.
func TrimLeft(text []byte) []byte { return bytes.TrimLeftFunc(text, isBlank) }

// TrimRight takes the blanks at the end away.
func TrimRight(text []byte) []byte { return bytes.TrimRightFunc(text, isBlank) }

// Trim takes the blanks at both ends away.
func Trim(text []byte) []byte { return TrimRight(TrimLeft(text)) }

// IsBlank says whether the text has nothing but blanks.
func IsBlank(text []byte) bool { return len(TrimLeft(text)) == 0 }

// Word splits off the first word of a text that starts with one, and the blanks after it.
func Word(text []byte) (word, rest []byte) {
	if end := bytes.IndexFunc(text, isBlank); end >= 0 {
		return text[:end], TrimLeft(text[end:])
	}
	return text, nil
}

// Words appends the words of a line, which blanks separate, to into.
func Words(into [][]byte, line []byte) [][]byte {
	for word, rest := Word(TrimLeft(line)); len(word) > 0; word, rest = Word(rest) {
		into = append(into, word)
	}
	return into
}
