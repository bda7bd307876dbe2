package paper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/conetune/conetune/internal/atomicfile"
)

// The files of a folder of results.
const (
	resultsFile  = "results.jsonl"
	manifestFile = "manifest.json"
	// TablesDir is the folder of the tables.
	TablesDir = "tables"
)

// ErrExists says that a folder has results already.
var ErrExists = errors.New("there are results already: go on with --resume, or choose another folder")

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
	if err := lock(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(text) > 0 && !resume {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	records, err := decode(text[:whole])
	if err != nil {
		return nil, fmt.Errorf("%s, %w", path, err)
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

// decode reads the lines of a results file.
func decode(text []byte) ([]Record, error) {
	var records []Record
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("line %d: not a record of results: %w", n, err)
		}
		if r.Schema != Schema {
			return nil, fmt.Errorf("line %d: schema %d, expected %d: it was written by another version of the program", n, r.Schema, Schema)
		}
		records = append(records, r)
	}
	return records, nil
}

// add appends a record in one write, and comes back when it is on disk.
func (s *store) add(r *Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("%v: %w", r.Item, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.Write(append(line, '\n')); err != nil {
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
	records, err := decode(text[:bytes.LastIndexByte(text, '\n')+1])
	if err != nil {
		return nil, fmt.Errorf("%s, %w", path, err)
	}
	return records, nil
}

// ReadManifest returns the manifest of a folder. The error is [fs.ErrNotExist] where there is none.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Schema != Schema {
		return nil, fmt.Errorf("%s: schema %d, expected %d: it was written by another version of the program", path, m.Schema, Schema)
	}
	return m, nil
}

// manifestOf returns the manifest of a folder, or an empty one.
func manifestOf(dir string) (*Manifest, error) {
	m, err := ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &Manifest{Schema: Schema}, nil
	}
	return m, err
}

// write writes the manifest into a folder.
func (m *Manifest) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, manifestFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	})
}
