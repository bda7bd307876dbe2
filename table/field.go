package table

import (
	"bytes"

	"github.com/conetune/conetune/internal/textfile"
)

// fieldReader goes through the cells of a line. Those in quotes may hold the separator, and quotes that are doubled.
type fieldReader struct {
	rest      []byte
	separator byte // a blank means any run of blanks and tabs
	begun     bool
	done      bool
	text      []byte // the cell without the blanks and quotes around it
	open      bool   // its quote does not end
}

// trimLeft takes blanks away that are not separators.
func (f *fieldReader) trimLeft(text []byte) []byte {
	for len(text) > 0 {
		n := textfile.LeadingBlank(text)
		if n == 0 || f.separator == '\t' && text[0] == '\t' {
			break
		}
		text = text[n:]
	}
	return text
}

// next moves to the next cell; false means that there are no more.
func (f *fieldReader) next() bool {
	if f.done {
		return false
	}
	f.rest = f.trimLeft(f.rest)
	if f.separator == ' ' && len(f.rest) == 0 {
		f.done = true
		return false
	}
	f.begun = true
	if len(f.rest) > 0 && f.rest[0] == '"' {
		f.quoted()
		return true
	}
	end := f.end(f.rest)
	f.text = textfile.TrimRight(f.rest[:end])
	f.pass(f.rest[end:])
	return true
}

// end is where a cell without quotes ends.
func (f *fieldReader) end(text []byte) int {
	if f.separator == ' ' {
		for i := range text {
			if textfile.LeadingBlank(text[i:]) > 0 {
				return i
			}
		}
		return len(text)
	}
	if end := bytes.IndexByte(text, f.separator); end >= 0 {
		return end
	}
	return len(text)
}

// pass goes beyond the separator that a text begins with.
func (f *fieldReader) pass(text []byte) {
	switch {
	case len(text) == 0:
		f.rest, f.done = nil, true
	case f.separator == ' ':
		f.rest = text
	default:
		f.rest = text[1:]
	}
}

// quoted takes a cell in quotes. What follows the closing quote belongs to the cell, as it does for other readers.
func (f *fieldReader) quoted() {
	rest := f.rest[1:]
	end := bytes.IndexByte(rest, '"')
	text := rest[:max(end, 0):max(end, 0)] // what is added is to a copy
	for end >= 0 && end+1 < len(rest) && rest[end+1] == '"' {
		text = append(text, '"')
		rest = rest[end+2:]
		if end = bytes.IndexByte(rest, '"'); end >= 0 {
			text = append(text, rest[:end]...)
		}
	}
	if end < 0 {
		f.text, f.rest, f.done, f.open = textfile.Trim(f.rest[1:]), nil, true, true
		return
	}
	rest = rest[end+1:]
	more := f.end(rest)
	if tail := textfile.TrimRight(rest[:more]); len(tail) > 0 {
		text = append(text, tail...)
	}
	f.text = textfile.Trim(text)
	f.pass(rest[more:])
}
