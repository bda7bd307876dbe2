package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
)

// file is what is written of a program: what it is, and its cases in the order in which they were run.
type file struct {
	Version  string   `json:"version"`
	Program  string   `json:"program"`         // the sum of its bytes
	Solve    string   `json:"solve,omitempty"` // its flags of solve beside those of all
	Runs     int      `json:"runs"`
	Complete bool     `json:"complete"` // all cases were asked for, and run
	Cases    []result `json:"cases"`

	path, program string
}

func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// begin says which program is measured, and takes the cases that the file has of it.
func (f *file) begin(ctx context.Context) error {
	text, err := exec.CommandContext(ctx, f.program, "version").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w", f.program, err)
	}
	f.Version = strings.TrimSpace(string(text))
	program, err := os.Open(f.program)
	if err != nil {
		return err
	}
	defer program.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, program); err != nil {
		return err
	}
	f.Program = digest(sum)
	have, err := read(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.Version != have.Version || f.Program != have.Program || f.Solve != have.Solve || f.Runs != have.Runs:
		return fmt.Errorf("%s is of another program, or of other -runs or -solve", f.path)
	}
	f.Complete = have.Complete
	f.Cases = slices.DeleteFunc(have.Cases, func(c result) bool { return c.Status == killed })
	return nil
}

// find returns a case, nil if it is not there.
func (f *file) find(name string) *result {
	for i := range f.Cases {
		if f.Cases[i].Name == name {
			return &f.Cases[i]
		}
	}
	return nil
}

// write writes it with a line for each case.
func (f *file) write() error {
	head := *f
	head.Cases = []result{}
	text, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	b := bytes.NewBuffer(bytes.TrimSuffix(text, []byte("]}")))
	for i, c := range f.Cases {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s\n%s", map[bool]string{true: ","}[i > 0], line)
	}
	b.WriteString("\n]}\n")
	return atomicfile.Write(f.path, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	})
}
