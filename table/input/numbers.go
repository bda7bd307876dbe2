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

// Numbers reads a file in the format of LIBSVM, or a table all of whose columns are numbers, commas between them, and
// whose target has that name, y where it is empty and there is such a column, and else that of the first. Features of a
// LIBSVM file have those names, or else x1, x2, ..; queries are the numbers of qid: of its rows, nil without.
func (in *Input) Numbers(path, target string, names []string) (d *dataset.Data, queries []int64, err error) {
	if in.IsLIBSVM(path) {
		return in.libsvm(path, target, names)
	}
	t, err := in.Table(path, Numbers)
	if err != nil {
		return nil, nil, err
	}
	if target == "" {
		if target = t.Columns()[0].Name; t.Index("y") >= 0 {
			target = "y"
		}
	}
	var features []string
	for _, name := range t.Names() {
		if name != target {
			features = append(features, name)
		}
	}
	d, err = numbersOf(t, []string{target}, features, false)
	return d, nil, err
}

// numbersOf are columns of numbers as features, and the first of the targets, which with optional need not be there.
func numbersOf(t *table.Table, targets, features []string, optional bool) (*dataset.Data, error) {
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

// libsvm reads a file in that format.
func (in *Input) libsvm(path, target string, names []string) (*dataset.Data, []int64, error) {
	s, err := in.source(path)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	if target != "" && names == nil {
		return nil, nil, s.Errorf(0, "", "is a LIBSVM file, whose columns have no names: the target %s cannot be looked up",
			textfile.Quote([]byte(target)))
	}
	t, err := libsvm.Read(s, libsvm.Options{Features: len(names), ZeroBased: libsvm.CountFromZero(names)})
	if err != nil {
		return nil, nil, err
	}
	if names == nil {
		first := 1
		if t.ZeroBased {
			first = 0
		}
		names = libsvm.NamesFrom(first, t.Features)
	}
	if target == "" {
		target = "y"
	}
	return &dataset.Data{X: t.X, Y: t.Labels, Features: slices.Clone(names), Target: target}, t.Queries, nil
}

// openNumbers reads files of LIBSVM, and notes what their user should know.
func (s *Source) openNumbers(r *Rows, path string) (*divisible, error) {
	d, queries, err := s.input.Numbers(path, s.target(), nil)
	if err != nil {
		return nil, err
	}
	all, err := s.input.beside(d, s.Val, s.Test)
	if err != nil {
		return nil, err
	}
	d = all[0]
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
