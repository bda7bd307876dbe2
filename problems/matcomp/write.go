package matcomp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/formats/csvfile"
	"github.com/conetune/conetune/formats/textfile"
)

// WriteDir writes the data into a folder that [ReadDir] reads, with 17 significant digits. The folder is made if
// needed; one that holds anything is an error. After an error nothing is left of what was written.
func WriteDir(d *Data, dir string) (err error) {
	if err := d.Validate(); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &textfile.Error{File: dir, Reason: "cannot be made: " + err.Error(), Err: err}
		}
		defer func() {
			if err != nil {
				os.Remove(dir)
			}
		}()
	case err != nil:
		return &textfile.Error{File: dir, Reason: "is not a directory that can be written to", Err: err}
	case len(entries) > 0:
		return &textfile.Error{File: dir, Reason: fmt.Sprintf("is not empty (%s), expected a new or an empty directory", entries[0].Name())}
	}
	var written []string
	defer func() {
		if err != nil {
			for _, path := range written {
				os.Remove(path)
			}
		}
	}()
	for _, side := range d.sides() {
		f := side.features
		if f.X == nil {
			continue
		}
		path := filepath.Join(dir, side.name+"_features.csv")
		written = append(written, path)
		if err := csvfile.Write(path, &csvfile.Table{X: f.X, Features: f.Names}); err != nil {
			return err
		}
		path = filepath.Join(dir, side.name+"_groups.csv")
		written = append(written, path)
		if err := textfile.Write(path, func(w io.Writer) error { return f.writeGroups(w) }); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "observations.csv")
	written = append(written, path)
	return textfile.Write(path, func(w io.Writer) error { return d.writeEntries(w) })
}

func (f *Features) writeGroups(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "feature,group") // errors stay until Flush
	for k, members := range f.Groups.Members {
		for _, j := range members {
			fmt.Fprintf(b, "%s,%s\n", f.Names[j], strings.TrimPrefix(f.Groups.Names[k], "group"))
		}
	}
	return b.Flush()
}

func (d *Data) writeEntries(w io.Writer) error {
	type line struct {
		Entry
		set string
	}
	var lines []line
	for _, s := range []struct {
		name    string
		entries []Entry
	}{{trainSet, d.Train}, {valSet, d.Val}, {testSet, d.Test}} {
		for _, e := range s.entries {
			lines = append(lines, line{e, s.name})
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		if a.Row != b.Row {
			return a.Row - b.Row
		}
		return a.Col - b.Col
	})
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "row,col,value,set")
	var text []byte
	for _, l := range lines {
		text = strconv.AppendInt(text[:0], int64(l.Row), 10)
		text = strconv.AppendInt(append(text, ','), int64(l.Col), 10)
		text = strconv.AppendFloat(append(text, ','), l.Value, 'g', 17, 64)
		text = append(append(append(text, ','), l.set...), '\n')
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	return b.Flush()
}
