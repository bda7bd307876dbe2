package worklist

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/filelock"
	"github.com/conetune/conetune/internal/finitejson"
)

// The files of a folder of results.
const (
	ResultsFile  = "results.jsonl"
	ManifestFile = "manifest.json"
)

// ErrExists says that a folder has results already.
var ErrExists = errors.New("there are results already: go on with --resume, or choose another folder")

// DamageError says that a file of results is not as the program wrote it, and where.
type DamageError struct {
	// Path is the file, with the line where that is known; Reason says what is wrong and what to do.
	Path, Reason string
}

func (e *DamageError) Error() string { return e.Path + ": " + e.Reason }

// store is an open results file.
type store[R any] struct {
	file    *os.File
	encode  func(*R) ([]byte, error)
	records []R
}

// open opens the results of a folder, which it makes if needed, for this process alone. Without resume there
// must be none. What a kill has left of a line at the end is cut off.
func (k *Kind[I, R, P]) open(dir string, resume bool) (s *store[R], err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, ResultsFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := filelock.Wait(f); errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(text) > 0 && !resume {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	}
	atomicfile.Clean(dir)
	for _, folder := range k.Folders {
		atomicfile.Clean(filepath.Join(dir, folder))
	}
	// The file itself is forced to disk with every record; its name, and that of a new folder, are now.
	for _, folder := range []string{dir, filepath.Dir(filepath.Clean(dir))} {
		if err := atomicfile.SyncFolder(folder); err != nil {
			return nil, err
		}
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	records, err := k.Decode(path, text[:whole])
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
	return &store[R]{file: f, encode: k.Encode, records: records}, nil
}

// add appends a record in one write, and comes back when it is on disk.
func (s *store[R]) add(r *R) error {
	line, err := s.encode(r)
	if err != nil {
		return err
	}
	if _, err := s.file.Write(line); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.records = append(s.records, *r)
	return nil
}

// Read returns the records of a folder, in the order in which they were written. The rest of a line that a kill
// has cut off is left out.
func (k *Kind[I, R, P]) Read(dir string) ([]R, error) {
	path := filepath.Join(dir, ResultsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return k.Decode(path, text[:bytes.LastIndexByte(text, '\n')+1])
}

// sealed is a line with a checksum as its last field, the SHA-256 of the line without it.
func sealed(line []byte) []byte {
	end := len(line) - 1
	return fmt.Appendf(line[:end:end], ",\"checksum\":\"sha256:%x\"}", sha256.Sum256(line))
}

// intact says whether a line has the checksum of the rest, or, as in early versions, none.
func intact(line []byte) bool {
	at := bytes.LastIndex(line, []byte(`"checksum":`)) // behind a comma
	return at < 0 || bytes.Equal(line, sealed(append(bytes.Clone(line[:at-1]), '}')))
}

// Encode is a record as a line of results.jsonl. Numbers that are not finite are null there.
func (k *Kind[I, R, P]) Encode(r *R) ([]byte, error) {
	text, err := finitejson.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", k.Head(r).Item, err)
	}
	return append(sealed(text), '\n'), nil
}

// Decode reads the lines of a results file, whose name is for messages. Lines of early versions have no checksum.
func (k *Kind[I, R, P]) Decode(path string, text []byte) ([]R, error) {
	var records []R
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		damaged := func(format string, args ...any) error {
			return &DamageError{fmt.Sprintf("%s, line %d", path, n), fmt.Sprintf(format, args...)}
		}
		const remedy = "delete the line, and --resume does its work again"
		var r R
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, damaged("not a record of results: %v: %s", err, remedy)
		}
		if !intact(line) {
			return nil, damaged("the checksum does not match, the line was changed or damaged: %s", remedy)
		}
		if schema := k.Head(&r).Schema; schema != k.Schema {
			return nil, damaged("schema %d, expected %d: it was written by another version of the program", schema, k.Schema)
		}
		records = append(records, r)
	}
	return records, nil
}

// Manifest says what a folder of results is about. It is written before the work begins, and again by a merge, in one
// step, so that nothing cuts it off.
type Manifest[P any] struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"`
	// Plan is the work that was asked for, the same for all shards.
	Plan P `json:"plan"`
	// Shards are those of which the results are here, such as "1/4"; "1/1" is the whole work.
	Shards []string `json:"shards"`
	// Machines and Commands tell where and how the results were made, each kind once, in the order in which they
	// came. They do not bear on the results.
	Machines []string `json:"machines"`
	Commands []string `json:"commands"`
}

// ReadManifest returns the manifest of a folder. The error is [fs.ErrNotExist] where there is none.
func (k *Kind[I, R, P]) ReadManifest(dir string) (*Manifest[P], error) {
	path := filepath.Join(dir, ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := new(Manifest[P])
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &DamageError{path, fmt.Sprintf("not a manifest of results: %v: delete it, and --resume writes it anew",
			err)}
	}
	if m.Schema != k.Schema {
		return nil, &DamageError{path, fmt.Sprintf("schema %d, expected %d: it was written by another version of the program",
			m.Schema, k.Schema)}
	}
	return m, nil
}

// write writes the manifest into a folder.
func (m *Manifest[P]) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, ManifestFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	})
}
