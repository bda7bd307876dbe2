package input

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
)

// Tables of numbers: those of folders, and files in the format of LIBSVM.

// Numbers is how tables of numbers are written.
var Numbers = table.Options{Separator: ",", Decimal: ".", Header: "yes"}

// numbers are tables of numbers that belong together.
type numbers struct {
	// all are the rows of each, nil for those that are not there.
	all []*dataset.Data
	// queries are the numbers of qid: of the rows of the first, nil without.
	queries []int
}

// together reads tables of numbers, nil for an empty path after the first: files in the format of LIBSVM, whose target
// is y, or tables all of whose columns are numbers, commas between them, see [Input.columns]. The first table says what
// the target and the features of all are, in the same order. Features of files of LIBSVM are x1, x2, .., or x0, x1, ..
// where the index 0 occurs in one of them, up to the largest index of all; beside a table of columns they are these.
func (in *Input) together(targets []string, several bool, paths ...string) (n *numbers, err error) {
	n = &numbers{all: make([]*dataset.Data, len(paths))}
	all, files := n.all, make([]*libsvm.File, len(paths))
	first, last, target := 1, 0, "y"
	for k, path := range paths {
		switch {
		case path == "" && k > 0:
		case in.IsLIBSVM(path):
			if several {
				return nil, &textfile.Error{File: path, Reason: errSeveral}
			}
			if files[k], err = in.libsvm(path); err == nil {
				first, last = min(first, files[k].First), max(last, files[k].Last)
			}
		default:
			all[k], targets, err = in.columns(path, targets, several)
		}
		switch {
		case err != nil:
			return nil, err
		case k > 0:
		case all[0] != nil:
			target = all[0].Target
		case len(targets) > 0:
			return nil, &textfile.Error{File: path, Reason: "is a LIBSVM file, whose columns have no names: the target " +
				textfile.Quote([]byte(targets[0])) + " cannot be looked up"}
		default:
			targets, n.queries = []string{target}, files[0].Queries
		}
	}
	p := last - first + 1
	if all[0] != nil {
		first, p = firstIndex(all[0].Features), len(all[0].Features)
	}
	for k, f := range files {
		if f != nil {
			x, err := f.Matrix(first, p)
			if err != nil {
				return nil, err
			}
			all[k] = &dataset.Data{X: x, Y: f.Labels, Target: target}
		}
	}
	if files[0] != nil {
		all[0].Features = libsvm.NamesFrom(first, p)
	}
	for k, d := range all {
		switch {
		case k == 0 || d == nil:
			continue
		case files[k] != nil:
			d.Features = all[0].Features
		}
		if diff := dataset.Difference(all[0], d); diff != "" {
			return nil, &textfile.Error{File: paths[k], Reason: "does not fit the training set: " + diff}
		}
		d.Features = all[0].Features
		all[k] = d.Like(all[0])
	}
	return n, nil
}

// libsvm reads a file in that format.
func (in *Input) libsvm(path string) (*libsvm.File, error) {
	s, err := in.source(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return libsvm.Read(s)
}

// firstIndex is the one from which on features of these names count: 0 where the first is x0.
func firstIndex(names []string) int {
	if libsvm.CountFromZero(names) {
		return 0
	}
	return 1
}

// Numbers reads a file in the format of LIBSVM as rows with the features of a model; others are left out, and told.
func (in *Input) Numbers(path, target string, features []string) (*dataset.Data, []table.Finding, error) {
	f, err := in.libsvm(path)
	if err != nil {
		return nil, nil, err
	}
	first, largest := firstIndex(features), f.Last
	last := first + len(features) - 1
	var findings []table.Finding
	if n := f.Cut(last); n > 0 {
		findings = []table.Finding{{File: path, Kind: "columns", Text: fmt.Sprintf("%s of features that the model does not "+
			"know, with indices from %d to %d, left out", words.Count(n, "value"), last+1, largest)}}
	}
	x, err := f.Matrix(first, len(features))
	return &dataset.Data{X: x, Y: f.Labels, Features: features, Target: target}, findings, err
}

// errSeveral says which columns of a table of numbers are the targets of a model of several.
const errSeveral = "expected several targets, columns y1, y2, .. of which y1 comes first"

// severalTargets are the names of these.
var severalTargets = regexp.MustCompile(`^y[0-9]+$`)

// columns reads a table of columns of numbers, some of them targets: those of the names, or else y1, y2, .. where
// several are wanted, and the column y, or where there is none the first, where one is.
func (in *Input) columns(path string, targets []string, several bool) (*dataset.Data, []string, error) {
	t, err := in.Table(path, Numbers)
	if err != nil {
		return nil, nil, err
	}
	names := t.Names()
	switch {
	case len(targets) > 0:
	case several:
		targets = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !severalTargets.MatchString(name) })
		if len(targets) < 2 || targets[0] != names[0] {
			return nil, nil, &textfile.Error{File: path, Reason: errSeveral}
		}
	case t.Index("y") >= 0:
		targets = []string{"y"}
	default:
		targets = names[:1:1]
	}
	features := slices.DeleteFunc(t.Names(), func(name string) bool { return slices.Contains(targets, name) })
	d, err := columnsOf(t, targets, features, several, false)
	return d, targets, err
}

// columnsOf are columns of numbers as features, and the first or all of the targets, which with optional need not be
// there.
func columnsOf(t *table.Table, targets, features []string, all, optional bool) (*dataset.Data, error) {
	if len(features) == 0 {
		return nil, &textfile.Error{File: t.Name(), Reason: "has no column beside the target, expected features"}
	}
	r, err := table.OfNumbers(features).Read(t, targets, optional)
	if err != nil {
		return nil, err
	}
	rows := r.Rows()
	if !optional && len(rows) < t.Rows() {
		return nil, &textfile.Error{File: t.Name(), Reason: r.Findings()[0].Text + ", expected a number in each"}
	}
	d := r.Encode(rows, r.Sparse())
	if all {
		several(d, targets, r.Targets(rows))
	}
	return d, nil
}

// openNumbers reads files of LIBSVM, and notes what their user should know.
func (s *Source) openNumbers(r *Rows, path string) (*divisible, error) {
	n, err := s.input.together(s.Wanted.Targets, s.Several, path, s.Val, s.Test)
	if err != nil {
		return nil, err
	}
	d, queries := n.all[0], n.queries
	name := path
	if path == Stream {
		name = nameOfStream
	}
	tell := func(kind, text string) { r.note(name, []table.Finding{{Kind: kind, Text: text}}) }
	if libsvm.CountFromZero(d.Features) {
		tell("names", "the index 0 occurs, so that indices count from 0: the features are x0, x1, ..")
	}
	division := divided{names: r.Division}
	switch {
	case queries == nil:
	case s.Data == "":
		tell("columns", "qid: is passed over, as the rows are divided already")
	default:
		r.Division.Group = "qid"
		division.names, division.Group = r.Division, queries
		tell("columns", "rows of the same qid: stay together in folds and in Source.Split")
	}
	all := indices.Range(0, len(d.Y))
	by := func(rows []int) divided {
		by := division
		by.Group = indices.Pick(by.Group, rows)
		return by
	}
	numbers := &learned{
		of: func(rows []int) *dataset.Data {
			if slices.Equal(rows, all) {
				return d
			}
			return d.Rows(rows)
		},
		other: func(path string) (*dataset.Data, error) {
			if path == s.Val {
				return n.all[1], nil
			}
			return n.all[2], nil
		},
	}
	return &divisible{name, all, by, func([]int) (*learned, error) { return numbers, nil }}, nil
}
