package textfile

import (
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
)

// Write writes a file through encode, gzipped when the path ends in .gz. Whoever
// opens the path sees the old file or the whole new one, and after an error the
// old one.
func Write(path string, encode func(w io.Writer) error) error {
	compress := strings.HasSuffix(strings.ToLower(path), ".gz")
	err := atomicfile.Write(path, func(w io.Writer) error {
		if !compress {
			return encode(w)
		}
		packed := gzip.NewWriter(w) // without name and time: the same bytes every time
		if err := encode(packed); err != nil {
			return err
		}
		return packed.Close()
	})
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	reason, found := strings.CutPrefix(err.Error(), path+": ")
	if !found {
		reason = "cannot be written: " + reason
	}
	return &Error{File: path, Reason: reason, Err: err}
}
