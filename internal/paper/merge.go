package paper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/conetune/conetune/internal/atomicfile"
)

// Merge puts the results of several folders, shards of one plan, into a new one, with the tables of all. An item may be in several
// folders if it came out alike. The outcome says how many items are missing still.
func Merge(dirs []string, into string) (*Outcome, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no folders to merge")
	}
	var m *Manifest
	var records []Record
	versions := []string(nil)
	for _, dir := range dirs {
		one, err := ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		list, err := ReadRecords(dir)
		if err != nil {
			return nil, err
		}
		if m == nil {
			m = &Manifest{Schema: Schema, Version: one.Version, Plan: one.Plan}
		} else if !reflect.DeepEqual(m.Plan, one.Plan) {
			return nil, fmt.Errorf("%s and %s are not parts of the same work: %s", dirs[0], dir, difference(m.Plan, one.Plan))
		}
		for _, s := range one.Shards {
			m.Shards = with(m.Shards, s)
		}
		for _, s := range one.Machines {
			m.Machines = with(m.Machines, s)
		}
		for _, s := range one.Commands {
			m.Commands = with(m.Commands, s)
		}
		records = append(records, list...)
	}
	for _, r := range records {
		versions = with(versions, r.Version)
	}
	if err := sameSettings(records); err != nil {
		return nil, err
	}
	out, err := newOutcome(*m, records)
	if err != nil {
		return nil, err
	}
	if len(versions) > 1 {
		out.Notes = append(out.Notes, "the results are those of several versions: "+listed(versions))
	}
	if err := out.write(into); err != nil {
		return nil, err
	}
	return out, nil
}

// write writes a folder of results, which must have none.
func (o *Outcome) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	path := filepath.Join(dir, resultsFile)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s: there are results already, choose another folder", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var b bytes.Buffer
	for k := range o.Records {
		line, err := o.Records[k].line()
		if err != nil {
			return err
		}
		b.Write(line)
	}
	err := atomicfile.Write(path, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	if err := o.Manifest.write(dir); err != nil {
		return err
	}
	return WriteTables(dir, o.Manifest.Plan, o.Records)
}

// sameSettings rejects records of one row with different settings.
func sameSettings(records []Record) error {
	first := map[[2]string]*Record{}
	for k := range records {
		r := &records[k]
		key := [2]string{r.Table, r.Row}
		if f := first[key]; f == nil {
			first[key] = r
		} else if f.Settings != r.Settings {
			return fmt.Errorf("the results of %s %s were made with %q and with %q", r.Table, r.Row, f.Settings, r.Settings)
		}
	}
	return nil
}

// difference names what two plans disagree in.
func difference(a, b Plan) string {
	for _, f := range []struct {
		what string
		a, b any
	}{
		{"tables", a.Tables, b.Tables}, {"methods", a.Methods, b.Methods}, {"backends", a.Backends, b.Backends},
		{"repeats", a.Repeats, b.Repeats}, {"skipped rows", a.Skipped, b.Skipped},
	} {
		if !reflect.DeepEqual(f.a, f.b) {
			return fmt.Sprintf("%s %v and %v", f.what, f.a, f.b)
		}
	}
	return "their plans differ"
}
