package worklist

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

// Manifest says what a folder of results is about. It is written before the work begins, and again by a merge.
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

// errCut says that a manifest is empty or ends early, as a crash of the machine may leave it.
var errCut = errors.New("it is empty or cut off")

// ReadManifest returns the manifest of a folder. The error is [fs.ErrNotExist] where there is none.
func (k *Kind[I, R, P]) ReadManifest(dir string) (*Manifest[P], error) {
	path := filepath.Join(dir, ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := new(Manifest[P])
	if err := json.Unmarshal(text, m); err != nil {
		if whole := bytes.TrimRight(text, "\x00 \n"); len(whole) == 0 || strings.Contains(err.Error(), "unexpected end of JSON input") {
			return nil, fmt.Errorf("%s: %w; %s --resume writes it anew", path, errCut, k.Command)
		}
		return nil, &DamageError{path, fmt.Sprintf("not a manifest of results: %v: delete it, and --resume writes it anew", err)}
	}
	if m.Schema != k.Schema {
		return nil, &DamageError{path, fmt.Sprintf("schema %d, expected %d: it was written by another version of the program", m.Schema, k.Schema)}
	}
	return m, nil
}

// manifestOf returns the manifest of a folder, or an empty one. A manifest that is cut off is no reason to lose the
// results: the note says what is not known any more.
func (k *Kind[I, R, P]) manifestOf(dir string) (m *Manifest[P], note string, err error) {
	m, err = k.ReadManifest(dir)
	switch {
	case errors.Is(err, errCut):
		note = ManifestFile + " was empty or cut off and is written anew; it does not tell the machines, commands and shards of earlier runs"
		fallthrough
	case errors.Is(err, fs.ErrNotExist):
		return &Manifest[P]{Schema: k.Schema}, note, nil
	}
	return m, "", err
}

// write writes the manifest into a folder.
func (m *Manifest[P]) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, ManifestFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	})
}
