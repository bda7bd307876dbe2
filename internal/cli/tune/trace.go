package tune

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/tune"
)

// traceFile writes one JSON object a line and each line at once, so that a run
// can be watched and what is done survives whatever ends it. The file is made
// with the first line: bad input leaves an old one alone.
type traceFile struct {
	path   string
	stream io.Writer // for the name of standard output
	file   *os.File
	err    error // the first one; it is reported at the end of the run
}

func newTraceFile(a *cli.App, path string) *traceFile {
	return &traceFile{path: path, stream: a.Stdout}
}

func (t *traceFile) write(e tune.Event) {
	if t.path == "" || t.err != nil {
		return
	}
	if t.path == cli.StandardStream {
		t.err = cli.WriteJSON(t.stream, e)
		return
	}
	if t.file == nil {
		if t.file, t.err = atomicfile.Create(t.path); t.err != nil {
			return
		}
	}
	var cause *fs.PathError
	if err := cli.WriteJSON(t.file, e); errors.As(err, &cause) {
		t.err = fmt.Errorf("%s: cannot be written: %w", t.path, cause.Err)
	} else {
		t.err = err
	}
}

func (t *traceFile) close() error {
	if t.file != nil {
		if err := t.file.Close(); t.err == nil {
			t.err = err
		}
	}
	return t.err
}
