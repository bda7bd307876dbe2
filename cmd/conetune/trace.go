package main

import (
	"encoding/json"
	"os"

	"github.com/conetune/conetune/tune"
)

// traceFile writes one JSON object a line and each line at once, so that a run
// can be watched and what is done survives whatever ends it. The file is made
// with the first line: bad input leaves an old one alone.
type traceFile struct {
	path string
	file *os.File
	err  error // the first one; it is reported at the end of the run
}

func newTraceFile(path string) *traceFile { return &traceFile{path: path} }

func (t *traceFile) write(e tune.Event) {
	if t.path == "" || t.err != nil {
		return
	}
	if t.file == nil {
		if t.file, t.err = os.Create(t.path); t.err != nil {
			return
		}
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = t.file.Write(append(line, '\n'))
	}
	t.err = err
}

func (t *traceFile) close() error {
	if t.file != nil {
		if err := t.file.Close(); t.err == nil {
			t.err = err
		}
	}
	return t.err
}
