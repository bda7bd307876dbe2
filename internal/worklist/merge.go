package worklist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/words"
)

// Merge puts the results of several folders, shards of one plan, into a new one. An item may be in several
// folders if it came out alike. The outcome says how many items are missing still.
func Merge[I comparable, R, P any](k *Kind[I, R, P], dirs []string, into string) (*Outcome[R, P], error) {
	if len(dirs) == 0 {
		return nil, errors.New("no folders to merge")
	}
	var m *Manifest[P]
	var records []R
	versions := []string(nil)
	for _, dir := range dirs {
		one, err := k.ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		list, err := k.Read(dir)
		if err != nil {
			return nil, err
		}
		if m == nil {
			m = &Manifest[P]{Schema: k.Schema, Version: one.Version, Plan: one.Plan}
		} else if !reflect.DeepEqual(m.Plan, one.Plan) {
			return nil, fmt.Errorf("%s and %s are not parts of the same work: %s", dirs[0], dir, k.Difference(m.Plan, one.Plan))
		}
		for _, s := range one.Shards {
			m.Shards = With(m.Shards, s)
		}
		for _, s := range one.Machines {
			m.Machines = With(m.Machines, s)
		}
		for _, s := range one.Commands {
			m.Commands = With(m.Commands, s)
		}
		records = append(records, list...)
	}
	for n := range records {
		versions = With(versions, k.Head(&records[n]).Version)
	}
	if k.Agree != nil {
		if err := k.Agree(records); err != nil {
			return nil, err
		}
	}
	out, err := k.outcome(*m, records)
	if err != nil {
		return nil, err
	}
	if len(versions) > 1 {
		out.Notes = append(out.Notes, "the results are those of several versions: "+words.Joined(versions))
	}
	if err := k.Write(into, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Write writes a folder of results, which must have none.
func (k *Kind[I, R, P]) Write(dir string, o *Outcome[R, P]) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	path := filepath.Join(dir, ResultsFile)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s: there are results already, choose another folder", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var b bytes.Buffer
	for n := range o.Records {
		line, err := k.Encode(&o.Records[n])
		if err != nil {
			return err
		}
		b.Write(line)
	}
	if err := atomicfile.WriteBytes(path, b.Bytes()); err != nil {
		return err
	}
	return o.Manifest.write(dir)
}
