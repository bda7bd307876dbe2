package paper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/filelock"
)

// The files of a folder of results.
const (
	resultsFile  = "results.jsonl"
	manifestFile = "manifest.json"
	// TablesDir is the folder of the tables, FiguresDir that of the figures, which package report draws.
	TablesDir  = "tables"
	FiguresDir = "figures"
)

// ErrExists says that a folder has results already.
var ErrExists = errors.New("there are results already: go on with --resume, or choose another folder")

// DamageError says that a file of results is not as the program wrote it, and where.
type DamageError struct {
	// Path is the file, with the line where that is known; Reason says what is wrong and what to do.
	Path, Reason string
}

func (e *DamageError) Error() string { return e.Path + ": " + e.Reason }

// store is an open results file. Its methods may be called by several goroutines.
type store struct {
	mu      sync.Mutex
	file    *os.File
	records []Record
}

// openStore opens the results of a folder, which it makes if needed, for this process alone. Without resume there
// must be none. What a kill has left of a line at the end is cut off.
func openStore(dir string, resume bool) (s *store, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, resultsFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := filelock.Try(f); errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(text) > 0 && !resume {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	}
	for _, folder := range []string{dir, filepath.Join(dir, TablesDir), filepath.Join(dir, FiguresDir)} {
		atomicfile.Clean(folder)
	}
	// The file itself is forced to disk with every record; its name, and that of a new folder, are now.
	for _, folder := range []string{dir, filepath.Dir(filepath.Clean(dir))} {
		if err := atomicfile.SyncFolder(folder); err != nil {
			return nil, err
		}
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	records, err := decode(path, text[:whole])
	if err != nil {
		return nil, err
	}
	if whole < len(text) {
		if err := f.Truncate(int64(whole)); err != nil {
			return nil, err
		}
	}
	if _, err := f.Seek(int64(whole), io.SeekStart); err != nil {
		return nil, err
	}
	return &store{file: f, records: records}, nil
}

// add appends a record in one write, and comes back when it is on disk.
func (s *store) add(r *Record) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.Write(line); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.records = append(s.records, *r)
	return nil
}

// close closes the file, which also ends the lock.
func (s *store) close() error { return s.file.Close() }

// ReadRecords returns the records of a folder, in the order in which they were written. The rest of a line that a kill
// has cut off is left out.
func ReadRecords(dir string) ([]Record, error) {
	path := filepath.Join(dir, resultsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode(path, text[:bytes.LastIndexByte(text, '\n')+1])
}
