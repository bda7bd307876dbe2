package input

import (
	"slices"

	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
)

// Tables of numbers: those of folders, and files in the format of LIBSVM.

// Numbers is how tables of numbers are written.
var Numbers = table.Options{Separator: ",", Decimal: ".", Header: "yes"}

// together reads tables of numbers, nil for an empty path after the first: files in the format of LIBSVM, whose target
// is y, or tables all of whose columns are numbers, commas between them, whose target has that name, y where it is empty
// and there is such a column, and else that of the first. The first table says what the target and the features of all
// are, in the same order. Features of files of LIBSVM are x1, x2, .., or x0, x1, .. where the index 0 occurs in one of
// them, up to the largest index of all; beside a table of columns they are these. Queries are the numbers of qid: of the
// rows of the first, nil without.
func (in *Input) together(target string, paths ...string) (all []*dataset.Data, queries []int64, err error) {
	all = make([]*dataset.Data, len(paths))
	files := make([]*libsvm.File, len(paths))
	first, last := 1, 0
	for k, path := range paths {
		switch {
		case path == "" && k > 0:
		case in.IsLIBSVM(path):
			if files[k], err = in.libsvm(path); err == nil {
				first, last = min(first, files[k].First), max(last, files[k].Last)
			}
		default:
			all[k], err = in.columns(path, target)
		}
		switch {
		case err != nil:
			return nil, nil, err
		case k > 0:
		case all[0] != nil:
			target = all[0].Target
		case target != "":
			return nil, nil, &textfile.Error{File: path, Reason: "is a LIBSVM file, whose columns have no names: the target " +
				textfile.Quote([]byte(target)) + " cannot be looked up"}
		default:
			target, queries = "y", files[0].Queries
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
				return nil, nil, err
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
			return nil, nil, &textfile.Error{File: paths[k], Reason: "does not fit the training set: " + diff}
		}
		d.Features = all[0].Features
		all[k] = d.Like(all[0])
	}
	return all, queries, nil
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

// Numbers reads a file in the format of LIBSVM as rows with the features of a model.
func (in *Input) Numbers(path, target string, features []string) (*dataset.Data, error) {
	f, err := in.libsvm(path)
	if err != nil {
		return nil, err
	}
	x, err := f.Matrix(firstIndex(features), len(features))
	return &dataset.Data{X: x, Y: f.Labels, Features: features, Target: target}, err
}

// columns reads a table of columns of numbers, one of them the target.
func (in *Input) columns(path, target string) (*dataset.Data, error) {
	t, err := in.Table(path, Numbers)
	if err != nil {
		return nil, err
	}
	if target == "" {
		if target = t.Columns()[0].Name; t.Index("y") >= 0 {
			target = "y"
		}
	}
	features := slices.DeleteFunc(t.Names(), func(name string) bool { return name == target })
	return columnsOf(t, []string{target}, features, false)
}

// columnsOf are columns of numbers as features, and the first of the targets, which with optional need not be there.
func columnsOf(t *table.Table, targets, features []string, optional bool) (*dataset.Data, error) {
	if len(features) == 0 {
		return nil, &textfile.Error{File: t.Name(), Reason: "has one column, the target, and no features"}
	}
	r, err := table.OfNumbers(features).Read(t, targets, optional)
	if err != nil {
		return nil, err
	}
	rows := r.Rows()
	if !optional && len(rows) < t.Rows() {
		return nil, &textfile.Error{File: t.Name(), Reason: r.Findings()[0].Text + ", expected a number in each"}
	}
	return r.Encode(rows, r.Sparse()), nil
}

// openNumbers reads files of LIBSVM, and notes what their user should know.
func (s *Source) openNumbers(r *Rows, path string) (*divisible, error) {
	all, queries, err := s.input.together(s.target(), path, s.Val, s.Test)
	if err != nil {
		return nil, err
	}
	d := all[0]
	name := path
	if path == Stream {
		name = nameOfStream
	}
	tell := func(kind, text string) { r.note(name, []table.Finding{{Kind: kind, Text: text}}) }
	if libsvm.CountFromZero(d.Features) {
		tell("names", "the index 0 occurs, so that indices count from 0: the features are x0, x1, ..")
	}
	var group []int
	switch {
	case queries == nil:
	case s.Data == "":
		tell("columns", "qid: is passed over, as the rows are divided already")
	default:
		group, r.Division.Group = numbersFromZero(queries), "qid"
		tell("columns", "rows of the same qid: stay together in folds and in Source.Split")
	}
	rows := make([]int, len(d.Y))
	for i := range rows {
		rows[i] = i
	}
	division := r.Division
	by := func(rows []int) divided {
		if group == nil {
			return divided{Division: division}
		}
		return divided{Division: division, group: pick(group, rows)}
	}
	numbers := &learned{
		of: func(rows []int) (*dataset.Data, [][]float64) {
			if len(rows) == len(d.Y) {
				return d, nil
			}
			return d.Rows(rows), nil
		},
		other: func(path string) (*dataset.Data, [][]float64, error) {
			if path == s.Val {
				return all[1], nil, nil
			}
			return all[2], nil, nil
		},
	}
	return &divisible{name, rows, by, func([]int) (*learned, error) { return numbers, nil }}, nil
}

// numbersFromZero numbers values from 0 in their order.
func numbersFromZero(values []int64) []int {
	sorted := slices.Compact(slices.Sorted(slices.Values(values)))
	numbers := make([]int, len(values))
	for k, v := range values {
		numbers[k], _ = slices.BinarySearch(sorted, v)
	}
	return numbers
}

// readDir reads a folder, with folds or without.
func (s *Source) readDir(r *Rows, folds bool) (err error) {
	if !folds {
		r.Split, err = ReadDir(s.Dir)
		return err
	}
	r.Repeats = 1
	if r.CV, err = ReadFoldsDir(s.Dir); err == nil {
		r.Split = &dataset.Split{Train: r.CV.Data, Test: r.CV.Test}
	}
	return err
}
