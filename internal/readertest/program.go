package readertest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/textfile"
)

// Program is a format of programs, with models of type *M.
type Program[M any] struct {
	// Ending is that of the names of files.
	Ending string
	Read   func(s *textfile.Source) (*M, error)
	Decode func(name string, r io.Reader) (*M, error)
	Open   func(path string) (*M, error)
	// Conic makes the conic program; the error is for one that is too large.
	Conic func(m *M) (*backends.Problem, error)
	// Files and Texts are seeds of Fuzz.
	Files, Texts []string
}

// Fuzz reads texts: what is read is a valid program, or one that is too large.
func (p *Program[M]) Fuzz(f *testing.F) {
	Seeds(f, p.Files, p.Texts...)
	f.Fuzz(func(t *testing.T, text []byte) {
		Read(t, "fuzz"+p.Ending, text, func(s *textfile.Source) error {
			m, err := p.Read(s)
			if err != nil {
				return err
			}
			if c, err := p.Conic(m); err == nil {
				if err := c.Validate(); err != nil {
					t.Fatal(err)
				}
			}
			return nil
		})
	})
}

// Again is the model that is read from what another one is written as.
func (p *Program[M]) Again(t *testing.T, encode func(w io.Writer) error) *M {
	t.Helper()
	var text bytes.Buffer
	if err := encode(&text); err != nil {
		t.Fatal(err)
	}
	m, err := p.Decode("again"+p.Ending, &text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Wrong is a text that cannot be read, with the line of the error, 0 for none, and words of it.
type Wrong = struct {
	Text string
	Line int
	Says string
}

// Errors reads what is wrong, and a file that does not exist.
func (p *Program[M]) Errors(t *testing.T, texts []Wrong) {
	t.Helper()
	name := "bad" + p.Ending
	for _, c := range texts {
		m, err := p.Decode(name, strings.NewReader(c.Text))
		var e *textfile.Error
		switch {
		case err == nil || m != nil:
			t.Errorf("no error, or a model with it: %q", c.Text)
		case !errors.As(err, &e):
			t.Errorf("an error of type %T: %v", err, err)
		case e.Line != c.Line || !strings.Contains(err.Error(), c.Says) || !strings.HasPrefix(err.Error(), name):
			t.Errorf("%v, expected line %d and %q in it, for\n%s", err, c.Line, c.Says, c.Text)
		}
	}
	if _, err := p.Open(filepath.Join(t.TempDir(), "none"+p.Ending)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
