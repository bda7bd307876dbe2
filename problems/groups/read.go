package groups

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/textfile"
)

// ReadDir reads groups.csv or groups.csv.gz of a folder, as [Read] does.
func ReadDir(dir string, features []string, overlap bool) (*Groups, error) {
	path := filepath.Join(dir, "groups.csv")
	if _, err := os.Stat(path); err != nil {
		if _, err := os.Stat(path + ".gz"); err != nil {
			return nil, &textfile.Error{File: dir, Reason: "lacks groups.csv, which names the group of each feature"}
		}
		path += ".gz"
	}
	return Read(path, features, overlap)
}

// Read reads the groups of the named features from a file. With overlap, a feature may stand on several
// lines, once for each of its groups. The error is a *formats.Error.
func Read(path string, features []string, overlap bool) (*Groups, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return readSource(s, features, overlap)
}

// memberBytes is what a line takes: its place in a group, and a group if it is the first.
const memberBytes = 256

func readSource(s *textfile.Source, features []string, overlap bool) (*Groups, error) {
	r := &reader{source: s, features: features, overlap: overlap, members: map[int][]int{}, seen: make([]int, len(features))}
	if err := r.header(); err != nil {
		return nil, err
	}
	for {
		fields, err := r.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := r.take(fields); err != nil {
			return nil, err
		}
	}
	if j := slices.Index(r.seen, 0); j >= 0 {
		missing := 0
		for _, line := range r.seen {
			if line == 0 {
				missing++
			}
		}
		return nil, s.Errorf(0, "", "lacks the group of %s and %d more of the %d features", textfile.Quote([]byte(features[j])), missing-1, len(features))
	}
	return sorted(r.members), nil
}

// reader goes through a file of groups.
type reader struct {
	source   *textfile.Source
	features []string
	overlap  bool
	index    map[string]int // of features; nil: by the number of the line
	fields   [][]byte       // of the line, kept for its memory
	columns  int
	feature  int // its column, or -1
	group    int
	members  map[int][]int
	seen     []int // for each feature the line where it stands last, 0 for none
	next     int   // feature of the next line, without a column of names
}

// line returns the fields of the next line that is not blank.
func (r *reader) line() ([][]byte, error) {
	for {
		text, err := r.source.Line()
		if err != nil {
			return nil, err
		}
		if textfile.IsBlank(text) {
			continue
		}
		fields, reason := textfile.Fields(r.fields[:0], text)
		if reason != "" {
			return nil, r.source.Errorf(r.source.LineNumber(), "", "is not CSV: %s", reason)
		}
		r.fields = fields
		return fields, nil
	}
}

func (r *reader) header() error {
	fields, err := r.line()
	if err == io.EOF {
		return r.source.Errorf(0, "", "is empty, expected the columns feature and group")
	}
	if err != nil {
		return err
	}
	var names []string
	for _, name := range fields {
		names = append(names, string(name))
	}
	r.columns = len(names)
	r.feature, r.group = slices.Index(names, "feature"), slices.Index(names, "group")
	if r.group < 0 || r.feature < 0 && r.columns > 1 {
		return r.source.Errorf(r.source.LineNumber(), "", "has the columns %s, expected feature and group, or group alone", textfile.Show(strings.Join(names, ", ")))
	}
	if r.feature >= 0 {
		r.index = make(map[string]int, len(r.features))
		for j, name := range r.features {
			r.index[name] = j
		}
	}
	return nil
}

// take puts the feature of a line into its group.
func (r *reader) take(fields [][]byte) error {
	line := r.source.LineNumber()
	if len(fields) != r.columns {
		return r.source.Errorf(line, "", "has %d fields, expected %d", len(fields), r.columns)
	}
	text := fields[r.group]
	k, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return r.source.Errorf(line, "group", "%s found, expected an integer from 0 to %d", textfile.Quote(text), math.MaxInt32)
	}
	j := r.next
	r.next++
	if r.feature >= 0 {
		name, known := fields[r.feature], false
		if j, known = r.index[string(name)]; !known {
			return r.source.Errorf(line, "feature", "%s is not a feature of the table", textfile.Quote(name))
		}
	} else if j >= len(r.features) {
		return r.source.Errorf(line, "", "is one line too many: there are %d features", len(r.features))
	}
	switch {
	case r.seen[j] == 0:
	case !r.overlap:
		return r.source.Errorf(line, "feature", "%s stands on line %d too, expected one group for each feature", textfile.Quote([]byte(r.features[j])), r.seen[j])
	case slices.Contains(r.members[int(k)], j):
		return r.source.Errorf(line, "feature", "%s is in group %d already", textfile.Quote([]byte(r.features[j])), k)
	}
	r.seen[j] = line
	r.source.Take(memberBytes)
	r.members[int(k)] = append(r.members[int(k)], j)
	return nil
}

// WriteDir writes groups.csv into a folder, for [ReadDir].
func WriteDir(dir string, g *Groups, features []string) error {
	return atomicfile.Write(filepath.Join(dir, "groups.csv"), func(w io.Writer) error { return Encode(w, g, features) })
}

// Encode writes the groups of the named features in the form that [Read] takes.
func Encode(w io.Writer, g *Groups, features []string) error {
	out := csv.NewWriter(w)
	out.Write([]string{"feature", "group"}) // errors stay until Error below
	for k, members := range g.Members {
		for _, j := range members {
			out.Write([]string{features[j], strings.TrimPrefix(g.Names[k], "group")})
		}
	}
	out.Flush()
	return out.Error()
}
