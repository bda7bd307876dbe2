package table

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/textfile"
)

// input is a file, or bytes elsewhere that have a name in messages.
type input struct {
	name string
	at   io.ReaderAt // nil for a file
	size int64       // of what is there
}

// stream is an open input as text in UTF-8 or in an 8-bit encoding, whose lines end with LF or CRLF.
type stream struct {
	*textfile.Source
	encoding string   // where it says more than UTF-8
	packed   string   // how the file is compressed, or empty
	close    []func() // in the order of opening
}

func (s *stream) Close() {
	for k := len(s.close) - 1; k >= 0; k-- {
		s.close[k]()
	}
}

// raw are the bytes of an input.
type raw interface {
	io.Reader
	io.ReaderAt
}

// signatures are the first bytes of files that hold tables and are not text, and what to do about them.
var signatures = []struct{ magic, reason string }{
	{"\xd0\xcf\x11\xe0", "is an Excel workbook, expected text: save its sheet as CSV"},
	{"PAR1", "is a Parquet file, expected text: write the table as CSV"},
	{"ARROW1", "is an Arrow file, expected text: write the table as Parquet or CSV"},
	{"FEA1", "is a Feather file of version 1, expected version 2 or text: write the table as Parquet or CSV"},
	{"RDX", "is a file of R, expected text: write the table by write.csv"},
	{"\xfd7zXZ\x00", "is compressed by xz, expected plain text or one compressed by gzip, bzip2, zip or zstd"},
}

// raw opens the bytes of the input.
func (in *input) raw() (r raw, size int64, closing func(), err error) {
	if in.at != nil {
		return io.NewSectionReader(in.at, 0, in.size), in.size, func() {}, nil
	}
	f, info, err := textfile.OpenFile(in.name)
	if err != nil {
		return nil, 0, nil, err
	}
	return f, info.Size(), func() { f.Close() }, nil
}

// open opens the input. With joined, line ends inside of quotes become blanks.
func (in *input) open(o Options, joined bool, quoteSeparator byte) (_ *stream, err error) {
	s := &stream{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	r, size, closing, err := in.raw()
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, closing)
	text, err := s.unpack(in.name, r, size)
	if err != nil {
		return nil, err
	}
	head, _ := text.Peek(headBytes)
	for _, known := range signatures {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return nil, &textfile.Error{File: in.name, Reason: known.reason}
		}
	}
	var lines io.Reader = text
	if wide := utf16Text(head, o.Encoding); wide != nil {
		s.encoding = "UTF-16"
		decoded := bufio.NewReaderSize(wide.NewDecoder().Reader(text), headBytes)
		lines, head = decoded, nil
		head, _ = decoded.Peek(headBytes)
	}
	if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
		lines = &carriageReader{lines}
	}
	if joined {
		lines = &joiner{r: bufio.NewReaderSize(lines, headBytes), separator: quoteSeparator, first: true}
	}
	if s.Source, err = textfile.NewSource(in.name, lines); err != nil && s.packed == "" {
		err = textfile.Misnamed(err)
	}
	return s, err
}

// leastWindow is that of Zstandard that all decoders know (RFC 8878, 3.1.1.1.2).
const leastWindow = 8 << 20

// headBytes is how much of a text is looked at to find out what it is.
const headBytes = 256 << 10

// unpack undoes the compression.
func (s *stream) unpack(name string, r raw, size int64) (*bufio.Reader, error) {
	plain := bufio.NewReaderSize(r, headBytes)
	var out io.Reader
	magic, _ := plain.Peek(4)
	switch head := string(magic); {
	case strings.HasPrefix(head, "\x1f\x8b"):
		s.packed = "gzip"
		unpacked, err := textfile.Gunzip(plain)
		if err != nil {
			return nil, textfile.Damaged(name, s.packed, err)
		}
		out = unpacked
	case strings.HasPrefix(head, "BZh"):
		s.packed = "bzip2"
		out = bzip2.NewReader(plain)
	case head == "\x28\xb5\x2f\xfd":
		s.packed = "zstd"
		unpacked, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(max(leastWindow, memory.Default()/4))))
		if err != nil {
			return nil, textfile.Damaged(name, s.packed, err)
		}
		s.close = append(s.close, unpacked.Close)
		out = windowed{unpacked}
	case head == "PK\x03\x04" || head == "PK\x05\x06": // the second one has no file
		s.packed = "zip"
		member, err := s.member(name, r, size)
		if err != nil {
			return nil, err
		}
		out = member
	default:
		return plain, nil
	}
	return bufio.NewReaderSize(textfile.Unpacked(out, s.packed), headBytes), nil
}

// windowed says what a window that is too large is.
type windowed struct{ r *zstd.Decoder }

func (w windowed) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("they ask for a window larger than a quarter of the budget of memory, %s ("+memory.More+")", memory.Format(memory.Default()))
	}
	return n, err
}

// member opens the one file of a zip archive.
func (s *stream) member(name string, r io.ReaderAt, size int64) (io.Reader, error) {
	fail := func(reason string, err error) (io.Reader, error) {
		return nil, &textfile.Error{File: name, Reason: reason, Err: err}
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, textfile.Damaged(name, "zip", err)
	}
	var files []*zip.File
	var names []string
	for _, f := range archive.File {
		if f.Name == "[Content_Types].xml" {
			return fail("is a workbook or another office document, expected text: save its sheet as CSV", nil)
		}
		if !f.FileInfo().IsDir() && !strings.HasPrefix(f.Name, "__MACOSX/") {
			files, names = append(files, f), append(names, f.Name)
		}
	}
	if len(files) == 0 {
		return fail("is a zip archive without files, expected one with a table", nil)
	}
	if len(files) != 1 {
		return fail("is a zip archive of "+plural(len(files), "file")+", expected one table: unpack it ("+list(names)+")", nil)
	}
	f, err := files[0].Open()
	if err != nil {
		return nil, textfile.Damaged(name, "zip", err)
	}
	s.close = append(s.close, func() { f.Close() })
	return f, nil
}

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
