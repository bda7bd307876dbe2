package textfile

import (
	"archive/zip"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/conetune/conetune/internal/memory"
)

// leastWindow is the window of Zstandard that all decoders know (RFC 8878, 3.1.1.1.2).
const leastWindow = 8 << 20

// unpack undoes the compression of data, which their first bytes tell. How they are compressed is empty where they are
// not.
func (s *Source) unpack(r io.Reader) (text io.Reader, err error) {
	plain := bufio.NewReaderSize(r, HeadBytes)
	magic, _ := plain.Peek(4)
	switch head := string(magic); {
	case strings.HasPrefix(head, "\x1f\x8b"):
		s.Packed = "gzip"
		if text, err = gzip.NewReader(plain); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	case strings.HasPrefix(head, "BZh"):
		s.Packed, text = "bzip2", bzip2.NewReader(plain)
	case head == "\x28\xb5\x2f\xfd":
		s.Packed = "zstd"
		window := zstd.WithDecoderMaxWindow(uint64(max(leastWindow, memory.Default()/4)))
		var z *zstd.Decoder
		z, err = zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), window)
		if err == nil {
			s.close = append(s.close, func() error { z.Close(); return nil })
			text = z
		}
	case head == "PK\x03\x04" || head == "PK\x05\x06": // the second one has no file
		s.Packed = "zip"
		text, err = s.member(r)
	default:
		return plain, nil
	}
	var known *Error
	switch {
	case errors.As(err, &known):
		return nil, err
	case err != nil:
		return nil, s.readError(0, &damage{s.Packed, err})
	}
	return &unpacked{r: text, how: s.Packed}, nil
}

// member opens the one file of a zip archive, whose list of files stands at its end.
func (s *Source) member(r io.Reader) (io.Reader, error) {
	file, ok := r.(interface {
		io.ReaderAt
		Size() int64
	})
	if !ok {
		return nil, s.Errorf(0, "", "is a zip archive that is read as a stream, expected text: unpack it")
	}
	archive, err := zip.NewReader(file, file.Size())
	if err != nil {
		return nil, err
	}
	var files []*zip.File
	for _, f := range archive.File {
		if f.Name == "[Content_Types].xml" {
			return nil, s.Errorf(0, "", "is a workbook or another office document, expected text: save its sheet as CSV")
		}
		if !f.FileInfo().IsDir() && !strings.HasPrefix(f.Name, "__MACOSX/") {
			files = append(files, f)
		}
	}
	switch {
	case len(files) == 0:
		return nil, s.Errorf(0, "", "is a zip archive without files, expected one with a table")
	case len(files) > 1:
		return nil, s.Errorf(0, "", "is a zip archive of %d files, expected one table: unpack it (%s)", len(files),
			List(len(files), func(k int) string { return Quote([]byte(files[k].Name)) }))
	}
	f, err := files[0].Open()
	if err == nil {
		s.close = append(s.close, f.Close)
	}
	return f, err
}

// damage is what is wrong with compressed data.
type damage struct {
	how string // they are compressed
	err error
}

func (d *damage) Error() string {
	if errors.Is(d.err, io.ErrUnexpectedEOF) {
		return "the " + d.how + " data end too early, is the file complete?"
	}
	err, path := d.err, (*fs.PathError)(nil)
	switch {
	case errors.As(err, &path): // a reader that went where the file is not
		err = path.Err
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		err = fmt.Errorf("they ask for a window larger than a quarter of the budget of memory, %s ("+memory.More+")",
			memory.Format(memory.Default()))
	}
	return "the " + d.how + " data are damaged: " + strings.TrimPrefix(err.Error(), "bzip2 data invalid: ")
}

func (d *damage) Unwrap() error { return d.err }

// unpacked reads what a reader makes of data that are compressed in a way: its errors say so, and the first one stays.
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
	if u.err = err; err != nil && err != io.EOF {
		u.err = &damage{u.how, err}
	}
	return n, u.err
}

// signatures are the first bytes of files that are not text, and what to do about them.
var signatures = []struct{ magic, reason string }{
	{"\xd0\xcf\x11\xe0", "is an Excel workbook, expected text: save its sheet as CSV"},
	{"PAR1", "is a Parquet file, expected text: write the table as CSV"},
	{"ARROW1", "is an Arrow file, expected text: write the table as Parquet or CSV"},
	{"FEA1", "is a Feather file of version 1, expected version 2 or text: write the table as Parquet or CSV"},
	{"RDX", "is a file of R, expected text: write the table by write.csv"},
	{"\xfd7zXZ\x00", "is compressed by xz, expected plain text or one compressed by gzip, bzip2, zip or zstd"},
}

// packedNames are endings of the names of compressed files, with how these are compressed.
var packedNames = map[string]string{".gz": "gzip", ".bz2": "bzip2", ".zip": "zip", ".zst": "zstd", ".xz": "xz"}

// binary is the error about a source that is not text. Where it was not compressed, and its name promises that, it says
// so.
func (s *Source) binary() error {
	if how := packedNames[strings.ToLower(filepath.Ext(s.name))]; how != "" && s.Packed == "" {
		return s.Errorf(0, "", "does not begin as %s data do, which its name promises, and is not text either: "+
			"is it damaged?", how)
	}
	return s.Errorf(0, "", "is binary, expected text")
}
