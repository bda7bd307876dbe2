package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

const (
	// bufferSize is the size of the read buffer; lines that fit are not copied.
	bufferSize = 256 << 10
	// maxLine is the longest line.
	maxLine = 1 << 30
	// wordSize is how much a byte of a line can take when it is taken apart into words.
	wordSize = 16
)

// Source goes through a text file line by line. Gzip is recognised by content, a
// byte order mark and the ends of lines (LF or CRLF) are taken away.
type Source struct {
	name   string
	closer io.Closer
	size   int64         // of the file, 0 when it is unknown
	known  int           // length of a text in memory, 0 when it is none
	file   *counter      // the bytes of the file
	packed *bufio.Reader // reads from file when it is gzipped, else nil
	plain  *counter      // the bytes of the text; the same as file when not gzipped
	text   *bufio.Reader // reads from plain
	long   []byte        // a line longer than the read buffer
	line   int
	budget budget

	workers, block int // of Blocks, 0 for the default
	inBlocks       bool
	share          float64 // of the text that Blocks has merged
}

// counter counts the bytes that were read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Open opens a file. The error is an [*Error].
func Open(path string) (*Source, error) {
	f, info, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	s, err := NewSource(path, f)
	if err != nil {
		f.Close()
		return nil, Misnamed(err)
	}
	s.closer = f
	if info.Mode().IsRegular() {
		s.size = info.Size()
	}
	return s, nil
}

// OpenFile opens a file, and says what is known of it. The error is an [*Error].
func OpenFile(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = openError(path, err)
	case info.IsDir():
		err = &Error{File: path, Reason: "is a directory, expected a file"}
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

func openError(path string, err error) error {
	reason := "cannot be read"
	var cause *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "no such file"
	case errors.Is(err, fs.ErrPermission):
		reason = "permission denied"
	case errors.As(err, &cause):
		reason += ": " + cause.Err.Error()
	}
	return &Error{File: path, Reason: reason, Err: err}
}

// signatures are the first bytes of files that are not text, and what to call them.
var signatures = []struct{ magic, name string }{
	{"BZh", "compressed by bzip2"},
	{"\xfd7zXZ\x00", "compressed by xz"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd"},
	{"PK\x03\x04", "a zip archive or a spreadsheet"},
	{"PK\x05\x06", "an empty zip archive"},
	{"PAR1", "a Parquet file"},
	{"\xff\xfe", "UTF-16 text"},
	{"\xfe\xff", "UTF-16 text"},
}

// NewSource reads from r; name stands for the file in messages. The error is an
// [*Error].
func NewSource(name string, r io.Reader) (*Source, error) {
	s := &Source{name: name, file: &counter{r: r}, budget: defaultBudget()}
	s.plain = s.file
	room := bufferSize
	if known, ok := r.(interface{ Len() int }); ok { // text in memory
		s.known = known.Len()
		room = min(room, s.known+512)
	}
	s.text = bufio.NewReaderSize(s.plain, room)
	if magic, _ := s.text.Peek(2); string(magic) == "\x1f\x8b" {
		s.packed = s.text
		unpacked, err := Gunzip(s.packed)
		if err != nil {
			return nil, s.readError(s.line, err)
		}
		s.known = 0
		s.plain = &counter{r: unpacked}
		s.text = bufio.NewReaderSize(s.plain, bufferSize)
	}
	head, err := s.text.Peek(512)
	if err != nil && err != io.EOF {
		return nil, s.readError(s.line, err)
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		s.text.Discard(3)
		head = head[3:]
	}
	for _, known := range signatures {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return nil, s.Errorf(0, "", "is %s, expected plain text in UTF-8 or gzip of it", known.name)
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, &Error{File: name, Reason: "is binary, expected text", Err: errBinary}
	}
	return s, nil
}

// Name returns the name of the file for messages.
func (s *Source) Name() string { return s.name }

// Line returns the next line without its end, or [io.EOF] after the last one.
// The bytes are valid until the next call. Other errors are an [*Error].
func (s *Source) Line() ([]byte, error) {
	if s.budget.over != nil {
		return nil, s.budget.over
	}
	line, err := s.text.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		s.long = append(s.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = s.text.ReadSlice('\n')
			if err := s.tooLong(s.line+1, len(s.long)+len(line)); err != nil {
				return nil, err
			}
			s.long = append(s.long, line...)
		}
		line = s.long
	}
	if err != nil && err != io.EOF {
		s.line++
		return nil, s.readError(s.line, err)
	}
	if len(line) == 0 {
		return nil, io.EOF
	}
	s.line++
	return s.lineOf(line, s.line)
}

// tooLong is the error about a line of so many bytes or more, if that is too long.
func (s *Source) tooLong(line, n int) error {
	switch {
	case n > maxLine:
		return s.Errorf(line, "", "is longer than %d bytes, expected lines of text", maxLine)
	case n > bufferSize && wordSize*float64(n) > s.left():
		return s.Errorf(line, "", "%s", "a line of such a length"+s.tooMuch(s.budget.used+wordSize*float64(n)))
	}
	return nil
}

// lineOf takes the end of a line away.
func (s *Source) lineOf(line []byte, number int) ([]byte, error) {
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, s.Errorf(number, "", "has a byte that is zero, expected text")
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// LineNumber returns the number of the line that Line returned last, from 1.
func (s *Source) LineNumber() int { return s.line }

// Peek returns up to the next n bytes of the text without moving on. It returns
// fewer at the end of the text and where n is larger than the read buffer.
func (s *Source) Peek(n int) []byte {
	head, _ := s.text.Peek(n) // an error will come back from Line
	return head
}

// Fraction estimates the share of the text that Line has returned, or [Blocks] has merged, so far. It is 0
// when the size of the file is unknown.
func (s *Source) Fraction() float64 {
	if s.inBlocks {
		return s.share
	}
	return s.fraction(0)
}

// fraction is the share of the text that was read, but for so many bytes.
func (s *Source) fraction(waiting int) float64 {
	if s.size <= 0 || s.plain.n == 0 {
		return 0
	}
	read := s.file.n
	if s.packed != nil {
		read -= int64(s.packed.Buffered())
	}
	// The share of the file that was unpacked, and of this the part not waiting in the buffer.
	share := float64(read) / float64(s.size)
	return min(share*float64(s.plain.n-int64(s.text.Buffered()+waiting))/float64(s.plain.n), 1)
}

// Close closes the file.
func (s *Source) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// Errorf returns an error about a line and a part of it; line 0 and an empty field
// mean the whole.
func (s *Source) Errorf(line int, field, format string, args ...any) *Error {
	return &Error{File: s.name, Line: line, Field: field, Reason: fmt.Sprintf(format, args...)}
}

func (s *Source) readError(line int, err error) *Error {
	reason := "cannot be read: " + err.Error()
	var packed *damage
	var cause *fs.PathError
	switch {
	case errors.As(err, &packed):
		reason = packed.Error()
	case errors.As(err, &cause):
		reason = "cannot be read: " + cause.Err.Error()
	}
	return &Error{File: s.name, Line: line, Reason: reason, Err: err}
}

// ReadFile opens a file and reads it.
func ReadFile[M any](path string, read func(s *Source) (M, error)) (M, error) {
	s, err := Open(path)
	if err != nil {
		var none M
		return none, err
	}
	defer s.Close()
	return read(s)
}

// Decode reads from r; name stands for the file in messages.
func Decode[M any](name string, r io.Reader, read func(s *Source) (M, error)) (M, error) {
	s, err := NewSource(name, r)
	if err != nil {
		var none M
		return none, err
	}
	return read(s)
}
