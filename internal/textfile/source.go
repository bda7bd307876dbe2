package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/conetune/conetune/internal/memory"
)

const (
	// HeadBytes is how much of a text can be looked at before it is read; lines that fit are not copied.
	HeadBytes = 256 << 10
	// maxLine is the longest line.
	maxLine = 1 << 30
	// wordSize is how much a byte of a line can take when it is taken apart into words.
	wordSize = 16
)

// Source goes through a text line by line. A byte order mark and the ends of lines (LF or CRLF) are taken away.
type Source struct {
	// Packed is how the file is compressed, empty where it is not.
	Packed string

	name   string
	close  []func() error // in the order of opening
	text   *bufio.Reader
	long   []byte // a line longer than the read buffer
	line   int
	budget budget

	workers, block int // of Blocks, 0 for the default
}

// Open opens a file. The error is an [*Error].
func Open(path string, through ...func(text *bufio.Reader) io.Reader) (*Source, error) {
	f, info, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	var r io.Reader = f
	if info.Mode().IsRegular() {
		r = sized{f, info.Size()}
	}
	s, err := NewSource(path, r, through...)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.close = append([]func() error{f.Close}, s.close...)
	return s, nil
}

// sized is a file whose size is known. It is read to its end, as that of a file of the system is said to be 0.
type sized struct {
	*os.File
	size int64
}

func (s sized) Size() int64 { return s.size }

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

// NewSource reads the text that a file holds, once compression by gzip, bzip2, zstd or zip (of one file), which its
// content tells, is undone; name stands for it in messages. Functions may change the text on its way, in their order.
// The error is an [*Error].
func NewSource(name string, r io.Reader, through ...func(text *bufio.Reader) io.Reader) (s *Source, err error) {
	s = &Source{name: name, budget: budget{limit: float64(memory.Default())}}
	defer func() {
		if err != nil {
			s.Close()
			s = nil
		}
	}()
	text, err := s.unpack(r)
	if err != nil {
		return s, err
	}
	s.text = bufio.NewReaderSize(text, HeadBytes)
	head, err := s.text.Peek(HeadBytes)
	for _, known := range signatures {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return s, s.Errorf(0, "", "%s", known.reason)
		}
	}
	for _, change := range through {
		s.text = bufio.NewReaderSize(change(s.text), HeadBytes)
		head, err = s.text.Peek(HeadBytes)
	}
	if err != nil && err != io.EOF && len(head) < 512 {
		return s, s.readError(0, err)
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		s.text.Discard(3)
	}
	head = head[:min(512, len(head))]
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return s, s.Errorf(0, "", "is UTF-16 text, expected UTF-8")
	case bytes.IndexByte(head, 0) >= 0:
		return s, s.binary()
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
	case n > HeadBytes && wordSize*float64(n) > s.left():
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

// Close closes the file.
func (s *Source) Close() (err error) {
	for k := len(s.close) - 1; k >= 0; k-- {
		err = errors.Join(err, s.close[k]())
	}
	s.close = nil
	return err
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
func ReadFile[M any](path string, read func(s *Source) (M, error)) (m M, err error) {
	s, err := Open(path)
	if err != nil {
		return m, err
	}
	defer s.Close()
	return read(s)
}

// Decode reads from r; name stands for the file in messages.
func Decode[M any](name string, r io.Reader, read func(s *Source) (M, error)) (m M, err error) {
	s, err := NewSource(name, r)
	if err != nil {
		return m, err
	}
	defer s.Close()
	return read(s)
}
