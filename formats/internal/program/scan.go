package program

import (
	"io"

	"github.com/conetune/conetune/internal/textfile"
)

// Lines goes through the lines of a file that have words. What is wrong panics with a [textfile.Error], which [Catch]
// makes the error of the reader.
type Lines struct {
	*textfile.Source
	// Words are those of the line.
	Words [][]byte
	// Field is the part of the file that errors are about.
	Field string
}

// Catch is deferred by readers.
func Catch(err *error) {
	switch failed := recover().(type) {
	case nil:
	case *textfile.Error:
		*err = failed
	default:
		panic(failed)
	}
}

// Next moves to the next line with words on it, false at the end. Prepare, if not nil, may change a line, and says
// whether it counts.
func (l *Lines) Next(prepare func(line []byte) bool) bool {
	for {
		line, err := l.Line()
		if err == io.EOF {
			return false
		}
		l.Check(err)
		if prepare != nil && !prepare(line) {
			continue
		}
		if l.Words = textfile.Words(l.Words[:0], line); len(l.Words) > 0 {
			return true
		}
	}
}

// Check ends the reading where there is an error, which is one of the source.
func (l *Lines) Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Fail ends the reading with what is wrong on the line.
func (l *Lines) Fail(format string, args ...any) {
	l.FailAt(l.LineNumber(), l.Field, format, args...)
}

// FailAt ends it with what is wrong with a part of any line, 0 for the file.
func (l *Lines) FailAt(line int, field, format string, args ...any) {
	panic(l.Errorf(line, field, format, args...))
}

// Number reads a finite number.
func (l *Lines) Number(word []byte) float64 {
	v, reason := Number(word)
	if reason != "" {
		l.Fail("%s", reason)
	}
	return v
}

// Charge takes the memory of n things from the budget, for the number on the line that what names.
func (l *Lines) Charge(n, each float64, what string, args ...any) {
	if err := l.Source.Charge(l.LineNumber(), l.Field, each*n, what, args...); err != nil {
		panic(err)
	}
}
