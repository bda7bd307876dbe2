package groups

import (
	"encoding/csv"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/textfile"
)

// ReadDir reads groups.csv or groups.csv.gz of a folder, as [Read] does.
func ReadDir(dir string, features []string, overlap bool) (*Groups, error) {
	path, err := textfile.InDir(dir, "groups", textfile.CSV...)
	if err == nil && path == "" {
		err = &textfile.Error{File: dir, Reason: "lacks groups.csv, which names the group of each feature"}
	}
	if err != nil {
		return nil, err
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
	const expected = "feature and group, or group alone, with the number of each group"
	columns, err := textfile.NewColumns(s, expected, "group")
	if err != nil {
		return nil, err
	}
	feature, group := columns.Index("feature"), columns.Index("group")
	if feature < 0 && len(columns.Names) > 1 {
		names := textfile.Show(strings.Join(columns.Names, ", "))
		return nil, s.Errorf(s.LineNumber(), "", "has the columns %s, expected %s", names, expected)
	}
	members, seen := map[int][]int{}, make([]int, len(features)) // for each feature the line where it stands last
	index := make(map[string]int, len(features))
	for j, name := range features {
		index[name] = j
	}
	for next := 0; ; next++ {
		fields, err := columns.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		j, known := next, next < len(features)
		if feature >= 0 {
			j, known = index[string(fields[feature])]
		}
		line, text := s.LineNumber(), fields[group]
		switch {
		case !known && feature >= 0:
			return nil, s.Errorf(line, "feature", "%s is not a feature of the table", textfile.Quote(fields[feature]))
		case !known:
			return nil, s.Errorf(line, "", "is one line too many: there are %d features", len(features))
		}
		k, err := strconv.ParseUint(string(text), 10, 31)
		switch {
		case err != nil:
			return nil, s.Errorf(line, "group", "%s found, expected an integer from 0 to %d, the number of the group",
				textfile.Quote(text), math.MaxInt32)
		case seen[j] == 0:
		case !overlap:
			return nil, s.Errorf(line, "feature", "%s stands on line %d too, expected one group for each feature",
				textfile.Quote([]byte(features[j])), seen[j])
		case slices.Contains(members[int(k)], j):
			return nil, s.Errorf(line, "feature", "%s is in group %d already", textfile.Quote([]byte(features[j])), k)
		}
		s.Take(memberBytes)
		seen[j], members[int(k)] = line, append(members[int(k)], j)
	}
	if j := slices.Index(seen, 0); j >= 0 {
		missing := indices.Where(seen, func(line int) bool { return line == 0 })
		return nil, s.Errorf(0, "", "lacks the group of %s and %d more of the %d features",
			textfile.Quote([]byte(features[j])), len(missing)-1, len(features))
	}
	return sorted(members), nil
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
