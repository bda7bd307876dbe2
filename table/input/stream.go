package input

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/textfile"
)

// Spool is a temporary file that is removed when it is closed, or before where the system allows it.
type Spool struct {
	*os.File
	named bool // it has a name to remove
	size  int64
}

// NewSpool makes one.
func NewSpool() (*Spool, error) {
	f, err := os.CreateTemp("", "conetune-*")
	if err != nil {
		return nil, err
	}
	return &Spool{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Close removes it.
func (s *Spool) Close() error {
	err := s.File.Close()
	if s.named {
		_ = os.Remove(s.Name())
	}
	return err
}

// spoolFrom is the number of bytes of a stream that are held in memory, fewer where the budget of memory is less.
const spoolFrom = 32 << 20

// stream is all that came from a place that can be read once.
type stream struct {
	name string // in messages
	text *io.SectionReader
	put  *Spool // where it was put aside, nil where it is in memory
	err  error
}

// readStream reads a stream: into memory where it is short, and else into a temporary file, or where there can be none, as far as the budget of memory goes.
func readStream(name string, r io.Reader) *stream {
	s := &stream{name: name}
	budget := memory.Default()
	most := min(spoolFrom, budget)
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err == nil && int64(len(text)) == most {
		if s.put, err = NewSpool(); err != nil {
			var rest []byte
			rest, err = io.ReadAll(io.LimitReader(r, budget-most))
			if text = append(text, rest...); err == nil && int64(len(text)) == budget {
				s.err = &textfile.Error{File: name, Reason: "does not fit into the budget of memory, " + memory.Format(budget) + " (" + memory.More + "); a file takes less"}
				return s
			}
		} else if err = s.put.fill(text, r); err == nil {
			s.text = io.NewSectionReader(s.put.File, 0, s.put.size)
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

// fill writes a text and the rest of a reader.
func (s *Spool) fill(text []byte, rest io.Reader) error {
	if _, err := s.Write(text); err != nil {
		return err
	}
	n, err := io.Copy(s.File, rest)
	s.size = int64(len(text)) + n
	return err
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
