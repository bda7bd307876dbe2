package matcomp

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
)

// paperGroups is the number of groups of each side in the paper's experiments.
const paperGroups = 12

// ReadDir reads the files of a folder, each as .csv or .csv.gz: observations with the columns row, col, value and set
// (train, val or test; indices from 0), and, where they are there, row_features and col_features with a column for each
// feature, and row_groups and col_groups as package groups reads them. A number of groups makes so many of consecutive
// features of each side in their place, 0 without a file 12 where that divides the number of features, and otherwise
// one for each feature. [WriteDir] writes such folders.
func ReadDir(dir string, number int) (*Data, error) {
	if err := textfile.CheckDir(dir, "observations.csv"); err != nil {
		return nil, err
	}
	path, err := textfile.InDir(dir, "observations", textfile.CSV...)
	if err == nil && path == "" {
		err = &textfile.Error{File: dir, Reason: "lacks observations.csv, with the columns row, col, value and set"}
	}
	if err != nil {
		return nil, err
	}
	d := &Data{}
	for _, side := range d.sides() {
		features, err := textfile.InDir(dir, side.name+"_features", textfile.CSV...)
		file, wrong := textfile.InDir(dir, side.name+"_groups", textfile.CSV...)
		if err = cmp.Or(err, wrong); err == nil && features != "" {
			err = side.Features.read(features, side.name, file, number)
		}
		if err != nil {
			return nil, err
		}
	}
	list, sets, err := d.readEntries(path, true)
	if err != nil {
		return nil, err
	}
	for _, set := range d.sets() {
		for k, e := range list {
			if sets[k] == set.file {
				*set.entries = append(*set.entries, e)
			}
		}
		if len(*set.entries) == 0 && set.entries != &d.Test {
			return nil, &textfile.Error{File: path, Reason: "has no entry of the set " + set.file}
		}
	}
	return d, d.Validate()
}

// Files are the files of a matrix whose entries are not divided yet. Features are optional.
type Files struct {
	// Entries has the columns row, col and value, with indices from 0; other columns are passed over.
	Entries string
	// Test, optional, has the test entries in the same form.
	Test string
	// Row and Col have the features, a line for each row, or column, of the matrix. Without them, the matrix ends at
	// the largest index.
	Row, Col string
	// Groups is the number of groups of the features of each side, see [ReadDir].
	Groups int
}

// ReadAndSplit reads the files and divides the entries at random by the rule of [dataset.SplitRows].
func ReadAndSplit(f Files, rule string, seed uint64) (*Data, error) {
	d := &Data{}
	for _, side := range d.sides() {
		path := map[string]string{"row": f.Row, "col": f.Col}[side.name]
		if path == "" {
			continue
		}
		if err := side.Features.read(path, side.name, "", f.Groups); err != nil {
			return nil, err
		}
	}
	list, _, err := d.readEntries(f.Entries, false)
	if err != nil {
		return nil, err
	}
	parts, err := split.By{}.Sets(len(list), rule, seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Entries, err)
	}
	for k, at := range parts {
		*d.sets()[k].entries = indices.Pick(list, at)
	}
	if f.Test == "" {
		return d, d.Validate()
	}
	if len(d.Test) > 0 {
		return nil, fmt.Errorf("split %s leaves test entries, but there is a file with them: give two parts", rule)
	}
	if d.Test, _, err = d.readEntries(f.Test, false); err != nil {
		return nil, err
	}
	return d, d.Validate()
}

// read reads a table of features and groups them: into so many groups, by a file, or by default.
func (f *Features) read(path, side, file string, number int) error {
	d, err := input.ReadColumns(path, nil)
	if err != nil {
		return err
	}
	f.X, f.Names = d.Dense(), d.Features
	p := len(f.Names)
	switch {
	case number == 0 && file != "":
		f.Groups, err = groups.Read(file, f.Names, false)
		return err
	case number == 0 && p%paperGroups == 0:
		number = paperGroups
	case number == 0:
		number = p
	}
	if f.Groups, err = groups.Equal(p, number); err != nil {
		return fmt.Errorf("%s features: %w", side, err)
	}
	return nil
}

// readEntries reads entries, and with sets the set of each. It sets the size of the matrix where features do not.
func (d *Data) readEntries(path string, withSets bool) ([]Entry, []string, error) {
	for _, side := range d.sides() {
		if side.X != nil {
			*side.size, _ = side.X.Dims()
		}
	}
	s, err := textfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	return d.readSource(s, withSets)
}

// What an entry takes of the budget of memory, and what each place of the matrix does, which a fit fills several times.
const (
	entryBytes = 256
	placeBytes = 64
)

func (d *Data) readSource(s *textfile.Source, withSets bool) ([]Entry, []string, error) {
	names := []string{"row", "col", "value"}
	if withSets {
		names = append(names, "set")
	}
	columns, err := textfile.NewColumns(s, strings.Join(names, ", "), names...)
	if err != nil {
		return nil, nil, err
	}
	r := &entryReader{source: s, data: d, line: map[[2]int]int{}}
	for _, name := range names {
		r.at = append(r.at, columns.Index(name))
	}
	var list []Entry
	var sets []string
	for {
		fields, err := columns.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		e, set, err := r.entry(fields)
		if err != nil {
			return nil, nil, err
		}
		s.Take(entryBytes)
		list = append(list, e)
		if withSets {
			sets = append(sets, set)
		}
	}
	if len(list) == 0 {
		return nil, nil, s.Errorf(0, "", "has column names and no entries")
	}
	if err := s.Charge(r.widest, "", placeBytes*float64(d.Rows)*float64(d.Cols), "a matrix of %d x %d", d.Rows,
		d.Cols); err != nil {
		return nil, nil, err
	}
	return list, sets, nil
}

// entryReader takes the lines of a file of entries.
type entryReader struct {
	source *textfile.Source
	data   *Data
	at     []int          // the columns of row, col, value and perhaps set
	line   map[[2]int]int // where an entry stands
	widest int            // the line that made the matrix as large as it is, 0 where features did
}

// entry reads a line.
func (r *entryReader) entry(fields [][]byte) (e Entry, set string, err error) {
	line := r.source.LineNumber()
	place := [2]int{}
	for k, side := range r.data.sides() {
		text := fields[r.at[k]]
		n, err := strconv.ParseUint(string(text), 10, 31)
		i := int(n)
		switch {
		case err != nil:
			return e, "", r.source.Errorf(line, side.name, "%s found, expected an index from 0", textfile.Quote(text))
		case side.X != nil && i >= *side.size:
			return e, "", r.source.Errorf(line, side.name, "%d is outside of the matrix: there are features of %d, 0 to %d", i,
				*side.size, *side.size-1)
		case i >= maxSide:
			return e, "", r.source.Errorf(line, side.name, "%d found, expected an index below %d", i, maxSide)
		}
		if i >= *side.size {
			*side.size = i + 1
			r.widest = line
		}
		place[k] = i
	}
	if before := r.line[place]; before > 0 {
		return e, "", r.source.Errorf(line, "", "entry (%d, %d) stands on line %d too", place[0], place[1], before)
	}
	r.line[place] = line
	value, reason := textfile.NumberUpTo(fields[r.at[2]], textfile.LargestEntry)
	if reason != "" {
		return e, "", r.source.Errorf(line, "value", "%s", reason)
	}
	if len(r.at) > 3 {
		set = string(fields[r.at[3]])
		if !slices.ContainsFunc(r.data.sets(), func(s entrySet) bool { return s.file == set }) {
			return e, "", r.source.Errorf(line, "set", "%s found, expected train, val or test", textfile.Quote([]byte(set)))
		}
	}
	return Entry{place[0], place[1], value}, set, nil
}

// maxSide bounds the indices, so that a slip is an error and not the end of the memory.
const maxSide = 1 << 20
