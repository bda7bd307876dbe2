package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/conetune/conetune/internal/atomicfile"
)

// file is what is written: settings, and cases in the order in which they were run.
type file struct {
	settings
	Complete bool     `json:"complete"` // all cases were asked for, and run
	Cases    []result `json:"cases"`
}

func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := new(file)
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// write writes it with a line for each case.
func (f *file) write(path string) error {
	head, err := json.Marshal(&file{settings: f.settings, Complete: f.Complete, Cases: []result{}})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("]}")))
	for i, c := range f.Cases {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s\n%s", map[bool]string{true: ","}[i > 0], line)
	}
	b.WriteString("\n]}\n")
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}
