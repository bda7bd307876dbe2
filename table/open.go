package table

import (
	"bufio"
	"bytes"
	"io"

	"github.com/conetune/conetune/internal/textfile"
)

// File is the file of a name, or bytes elsewhere that have a name in messages.
type File struct {
	Name string
	// Bytes are what is there; nil for the file of the name.
	Bytes *io.SectionReader
}

// raw opens the bytes of the file.
func (in File) raw() (r *io.SectionReader, closing func(), err error) {
	if in.Bytes != nil {
		return io.NewSectionReader(in.Bytes, 0, in.Bytes.Size()), func() {}, nil
	}
	f, info, err := textfile.OpenFile(in.Name)
	if err != nil {
		return nil, nil, err
	}
	return io.NewSectionReader(f, 0, info.Size()), func() { f.Close() }, nil
}

// open opens the file as text in UTF-8 or in an 8-bit encoding, whose lines end with LF or CRLF; wide says that it was
// UTF-16. With joined, line ends inside of quotes become blanks.
func (in File) open(o Options, joined bool, quoteSeparator byte) (s *textfile.Source, wide bool, err error) {
	decode := func(text *bufio.Reader) io.Reader {
		head, _ := text.Peek(headBytes)
		if encoding := utf16Text(head, o.Encoding); encoding != nil {
			wide = true
			return encoding.NewDecoder().Reader(text)
		}
		return text
	}
	endLines := func(text *bufio.Reader) io.Reader {
		head, _ := text.Peek(headBytes)
		if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
			return &carriageReader{text}
		}
		return text
	}
	join := func(text *bufio.Reader) io.Reader {
		if joined {
			return &joiner{r: text, separator: quoteSeparator, first: true}
		}
		return text
	}
	s, err = in.Text(decode, endLines, join)
	return s, wide, err
}

// Text opens the file as text, which functions may change on its way, see [textfile.NewSource].
func (in File) Text(through ...func(text *bufio.Reader) io.Reader) (*textfile.Source, error) {
	if in.Bytes == nil {
		return textfile.Open(in.Name, through...)
	}
	return textfile.NewSource(in.Name, io.NewSectionReader(in.Bytes, 0, in.Bytes.Size()), through...)
}

// headBytes is how much of a text is looked at to find out what it is.
const headBytes = textfile.HeadBytes

// carriageReader makes each CR a line end.
type carriageReader struct{ r io.Reader }

func (c *carriageReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// joiner makes line ends inside of quotes blanks.
type joiner struct {
	r         *bufio.Reader
	separator byte
	quoted    bool
	first     bool // at the start of a field
}

func (j *joiner) Read(p []byte) (int, error) {
	n, err := j.r.Read(p)
	for i, c := range p[:n] {
		switch {
		case c == '"' && j.quoted:
			j.quoted = false // a doubled quote opens it again
			j.first = true
		case c == '"' && j.first:
			j.quoted = true
		case j.quoted && (c == '\n' || c == '\r'):
			p[i] = ' '
		case !j.quoted:
			j.first = c == j.separator || c == '\n' || (j.first && (c == ' ' || c == '\t')) || j.separator == ' ' && c == '\t'
		}
	}
	return n, err
}
