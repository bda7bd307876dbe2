// Package textfile is what the readers and writers of text formats share: opening
// a file that may be compressed, going through it by lines or by blocks of them, reading numbers,
// an error that names file, line and field, and writing a file in one step.
//
// # Blanks
//
// A blank, in every reader of this module, is what Unicode calls white space (space, tab,
// vertical tab, form feed, carriage return, U+0085, the no-break space U+00A0, ..) or the byte
// order mark U+FEFF, which stands inside of files that were joined end to end. Text is UTF-8; a byte
// that is not, such as A0 alone, is no blank.
//
// # Blocks
//
// [Source.Line] goes through a file line by line; [Blocks] takes it by blocks of whole lines, which several goroutines
// parse and which are put together in the order of the file, so that tables and errors are the same for any number of
// them.
//
// # Memory
//
// A [Source] has a budget of memory, so that a small file cannot take what the machine has: by
// default the memory limit of the Go runtime where one is set (by GOMEMLIMIT, or by conetune
// --memory), otherwise half of what the process may use. A reader takes from it before it
// allocates: by [Source.Charge] for what a number in the file asks for, such as the order of a
// matrix, together with what a solver will need for it; by [Grow] and [Source.Take] for what
// grows with the text. What does not fit is an error with its line.
package textfile

import (
	"fmt"
	"strconv"
	"strings"
)

// Error says what is wrong in a file, and where.
type Error struct {
	// File is the path as the caller gave it.
	File string
	// Line counts from 1; 0 means the file as a whole.
	Line int
	// Field is the part of the line, such as `column "age"`; often empty.
	Field string
	// Reason says what was found and what was expected.
	Reason string
	// Err is the cause, such as one of package fs; may be nil.
	Err error
}

// Error returns "file:line: field: reason".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Reason)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Quote quotes text of a file for a message, and shortens what is long.
func Quote(text []byte) string {
	const most = 40
	if len(text) <= most {
		return strconv.Quote(string(text))
	}
	return strconv.Quote(string(text[:most])) + "..."
}

// List joins the first of n texts, and says how many more there are.
func List(n int, text func(k int) string) string {
	const most = 12
	var first []string
	for k := range min(n, most) {
		first = append(first, text(k))
	}
	list := strings.Join(first, ", ")
	if n > most {
		list += fmt.Sprintf(" and %d more", n-most)
	}
	return list
}

// Names are the first few of a list in quotes, see [List].
func Names(names []string) string {
	return List(len(names), func(k int) string { return Quote([]byte(names[k])) })
}

// Show returns text of a file for a message as it is, or as [Quote] where it is long or cannot be printed.
func Show(text string) string {
	if quoted := Quote([]byte(text)); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}
