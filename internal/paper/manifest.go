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
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
)

// errCut says that a manifest is empty or ends early, as a crash of the machine may leave it.
var errCut = errors.New("it is empty or cut off; conetune bench paper --resume writes it anew")

// ReadManifest returns the manifest of a folder. The error is [fs.ErrNotExist] where there is none.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		if whole := bytes.TrimRight(text, "\x00 \n"); len(whole) == 0 || strings.Contains(err.Error(), "unexpected end of JSON input") {
			return nil, fmt.Errorf("%s: %w", path, errCut)
		}
		return nil, &DamageError{path, fmt.Sprintf("not a manifest of results: %v: delete it, and --resume writes it anew", err)}
	}
	if m.Schema != Schema {
		return nil, &DamageError{path, fmt.Sprintf("schema %d, expected %d: it was written by another version of the program", m.Schema, Schema)}
	}
	return m, nil
}

// manifestOf returns the manifest of a folder, or an empty one. A manifest that is cut off is no reason to lose the results: the note
// says what is not known any more.
func manifestOf(dir string) (m *Manifest, note string, err error) {
	m, err = ReadManifest(dir)
	switch {
	case errors.Is(err, errCut):
		note = manifestFile + " was empty or cut off and is written anew; it does not tell the machines, commands and shards of earlier runs"
		fallthrough
	case errors.Is(err, fs.ErrNotExist):
		return &Manifest{Schema: Schema}, note, nil
	}
	return m, "", err
}

// write writes the manifest into a folder.
func (m *Manifest) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, manifestFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	})
}
