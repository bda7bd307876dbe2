package textfile

import (
	"bytes"
	"unicode/utf8"
)

// Fields goes through the fields of a line. Those in quotes may hold the separator, and quotes that are doubled.
type Fields struct {
	// Rest is what of the line is still to come, and Separator what stands between fields; a blank means any run of
	// blanks and tabs.
	Rest      []byte
	Separator byte
	// Text is the field without the blanks and quotes around it, Open says that its quote does not end, and Done that it
	// is the last one.
	Text       []byte
	Open, Done bool
}

// trimLeft takes blanks away that are not separators.
func (f *Fields) trimLeft(text []byte) []byte {
	for len(text) > 0 {
		n := LeadingBlank(text)
		if n == 0 || f.Separator == '\t' && text[0] == '\t' {
			break
		}
		text = text[n:]
	}
	return text
}

// Next moves to the next field; false means that there are no more.
func (f *Fields) Next() bool {
	if f.Done {
		return false
	}
	f.Rest = f.trimLeft(f.Rest)
	if f.Separator == ' ' && len(f.Rest) == 0 {
		f.Done = true
		return false
	}
	if len(f.Rest) > 0 && f.Rest[0] == '"' {
		f.quoted()
		return true
	}
	end := f.end(f.Rest)
	f.Text = TrimRight(f.Rest[:end])
	f.pass(f.Rest[end:])
	return true
}

// end is where a field without quotes ends.
func (f *Fields) end(text []byte) int {
	if f.Separator == ' ' {
		for i, c := range text {
			if (c <= ' ' || c >= utf8.RuneSelf) && LeadingBlank(text[i:]) > 0 {
				return i
			}
		}
		return len(text)
	}
	if end := bytes.IndexByte(text, f.Separator); end >= 0 {
		return end
	}
	return len(text)
}

// pass goes beyond the separator that a text begins with.
func (f *Fields) pass(text []byte) {
	switch {
	case len(text) == 0:
		f.Rest, f.Done = nil, true
	case f.Separator == ' ':
		f.Rest = f.trimLeft(text)
		f.Done = len(f.Rest) == 0
	default:
		f.Rest = text[1:]
	}
}

// quoted takes a field in quotes. What follows the closing quote belongs to the field, as it does for other readers.
func (f *Fields) quoted() {
	rest := f.Rest[1:]
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
		f.Text, f.Rest, f.Done, f.Open = Trim(f.Rest[1:]), nil, true, true
		return
	}
	rest = rest[end+1:]
	more := f.end(rest)
	if tail := TrimRight(rest[:more]); len(tail) > 0 {
		text = append(text, tail...)
	}
	f.Text = Trim(text)
	f.pass(rest[more:])
}
