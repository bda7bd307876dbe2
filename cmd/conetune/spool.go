package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/memory"
)

// spool is a temporary file that is removed when it is closed, or before where the system allows it.
type spool struct {
	file  *os.File
	named bool // it has a name to remove
	size  int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "conetune-*")
	if err != nil {
		return nil, err
	}
	return &spool{file: f, named: os.Remove(f.Name()) != nil}, nil
}

func (s *spool) close() {
	s.file.Close()
	if s.named {
		_ = os.Remove(s.file.Name())
	}
}

// spoolFrom is the number of bytes of standard input that are held in memory, fewer where the budget of memory is less.
const spoolFrom = 32 << 20

// spoolAll reads standard input: all of it where that is short, and else into a temporary file, or where there can be none, as far as the budget of memory goes.
func spoolAll(r io.Reader) (text []byte, s *spool, err error) {
	most := min(spoolFrom, memory.Default())
	text, err = io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return nil, nil, unreadable(err)
	}
	if int64(len(text)) < most {
		return text, nil, nil
	}
	if s, err = newSpool(); err != nil {
		text, err = readAll(io.MultiReader(bytes.NewReader(text), r))
		return text, nil, err
	}
	if _, err = s.file.Write(text); err == nil {
		_, err = io.Copy(s.file, r)
	}
	if err == nil {
		s.size, err = s.file.Seek(0, io.SeekCurrent)
	}
	if err != nil {
		s.close()
		return nil, nil, unreadable(err)
	}
	return nil, s, nil
}

// unreadable is the error about standard input that cannot be read, or not be put aside.
func unreadable(err error) error {
	what := "cannot be read: "
	if path := (*fs.PathError)(nil); errors.As(err, &path) && path.Op == "write" {
		what = "cannot be put aside in a temporary file: "
	}
	return &formats.Error{File: nameOfInput, Reason: what + err.Error(), Err: err}
}
