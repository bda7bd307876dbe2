package input

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/spool"
	"github.com/conetune/conetune/internal/textfile"
)

// spoolFrom is the number of bytes of a stream that are held in memory, fewer where the budget of memory is less.
const spoolFrom = 32 << 20

// stream is all that came from a place that can be read once.
type stream struct {
	name string // in messages
	text *io.SectionReader
	put  *spool.File // where it was put aside, nil where it is in memory
	err  error
}

// readStream reads a stream: into memory where it is short, and else into a temporary file, or where there can be none,
// as far as the budget of memory goes.
func readStream(name string, r io.Reader) *stream {
	s := &stream{name: name}
	budget := memory.Default()
	most, size := min(spoolFrom, budget), int64(0)
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err == nil && int64(len(text)) == most {
		if s.put, err = spool.New(); err != nil {
			var rest []byte
			rest, err = io.ReadAll(io.LimitReader(r, budget-most))
			if text = append(text, rest...); err == nil && int64(len(text)) == budget {
				s.err = &textfile.Error{File: name, Reason: "does not fit into the budget of memory, " +
					memory.Format(budget) + " (" + memory.More + "); a file takes less"}
				return s
			}
		} else if size, err = io.Copy(s.put, io.MultiReader(bytes.NewReader(text), r)); err == nil {
			s.text = io.NewSectionReader(s.put, 0, size)
			return s
		}
	}
	if err != nil {
		s.close()
		s.err = unreadable(name, err)
		return s
	}
	s.text = io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))
	return s
}

func (s *stream) close() {
	if s.put != nil {
		s.put.Close()
		s.put = nil
	}
}

// unreadable is the error about a stream that cannot be read, or not be put aside.
func unreadable(name string, err error) error {
	what, path := "cannot be read: ", (*fs.PathError)(nil)
	if errors.As(err, &path) {
		if path.Op == "write" {
			what = "cannot be put aside in a temporary file: "
		} else {
			err = path.Err
		}
	}
	return &textfile.Error{File: name, Reason: what + err.Error(), Err: err}
}
