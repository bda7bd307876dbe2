// Package textfile is what the readers and writers of text formats share: opening
// a file that may be gzipped, going through it line by line, reading numbers,
// an error that names file, line and field, and writing a file in one step.
package textfile

import (
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
