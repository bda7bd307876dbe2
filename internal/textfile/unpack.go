package textfile

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// damage is what is wrong with compressed data.
type damage struct {
	how string // they are compressed
	err error
}

func (d *damage) Error() string {
	if errors.Is(d.err, io.ErrUnexpectedEOF) {
		return "the " + d.how + " data end too early, is the file complete?"
	}
	err := d.err
	if path := (*fs.PathError)(nil); errors.As(err, &path) { // a reader that went where the file is not
		err = path.Err
	}
	return "the " + d.how + " data are damaged: " + strings.TrimPrefix(err.Error(), "bzip2 data invalid: ")
}

func (d *damage) Unwrap() error { return d.err }

// Damaged is an error about the data of a file that are compressed in a way, such as "zip".
func Damaged(file, how string, err error) *Error {
	d := &damage{}
	if !errors.As(err, &d) {
		d = &damage{how, err}
	}
	return &Error{File: file, Reason: d.Error(), Err: d}
}

// Unpacked reads what a reader makes of data that are compressed in a way: its errors say so, and the first one stays.
func Unpacked(r io.Reader, how string) io.Reader { return &unpacked{r: r, how: how} }

type unpacked struct {
	r   io.Reader
	how string
	err error
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.r.Read(p)
	var known *damage
	if u.err = err; err != nil && err != io.EOF && !errors.As(err, &known) {
		u.err = &damage{u.how, err}
	}
	return n, u.err
}

// Gunzip undoes gzip, of one member or several. Zeros after the last one, which fill up blocks of tapes, are passed over.
func Gunzip(from *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &damage{"gzip", err}
	}
	z.Multistream(false)
	return Unpacked(&members{from, z}, "gzip"), nil
}

// members are those of a gzip file, whose last one gzip does not tell from bytes behind it.
type members struct {
	from *bufio.Reader
	z    *gzip.Reader
}

var errBehind = errors.New("bytes follow them that are not gzip")

func (m *members) Read(p []byte) (int, error) {
	n, err := m.z.Read(p)
	if err != io.EOF {
		return n, err
	}
	switch head, err := m.from.Peek(2); {
	case string(head) == "\x1f\x8b":
		if err = m.z.Reset(m.from); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		m.z.Multistream(false)
		return n, err
	case err != nil && err != io.EOF:
		return n, err
	}
	for {
		switch b, err := m.from.ReadByte(); {
		case err != nil: // the end
			return n, err
		case b != 0:
			return n, errBehind
		}
	}
}

// packedNames are endings of the names of compressed files, with how these are compressed.
var packedNames = map[string]string{".gz": "gzip", ".bz2": "bzip2", ".zip": "zip", ".zst": "zstd", ".xz": "xz"}

// errBinary is the cause of the error about a file that is not text.
var errBinary = errors.New("not text")

// Misnamed is an error about a file that was not compressed. Where that is not text, and its name promises compressed data, the error says so.
func Misnamed(err error) error {
	var e *Error
	if errors.Is(err, errBinary) && errors.As(err, &e) {
		if how := packedNames[strings.ToLower(filepath.Ext(e.File))]; how != "" {
			return &Error{File: e.File, Reason: "does not begin as " + how + " data do, which its name promises, and is not text either: is it damaged?", Err: err}
		}
	}
	return err
}
