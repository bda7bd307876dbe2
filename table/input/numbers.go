package input

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/libsvm"
	"github.com/conetune/conetune/table/split"
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
	x, m, err := libsvm.ReadSourceMatrix(s, libsvm.Options{
		Features: len(names), ZeroBased: libsvm.CountFromZero(names), Largest: textfile.LargestEntry,
	})
	if err != nil {
		return nil, nil, err
	}
	if names == nil {
		first := 1
		if m.ZeroBased {
			first = 0
		}
		names = libsvm.NamesFrom(first, m.Features)
	}
	if target == "" {
		target = "y"
	}
	return &dataset.Data{X: x, Y: m.Labels, Features: slices.Clone(names), Target: target}, m.Queries, nil
}

// numbered are the rows of a file of LIBSVM, and those of the files beside it, nil for an empty name.
type numbered struct {
	rows   *dataset.Data
	beside []*dataset.Data
	group  []int // the queries of the rows, from 0; nil for none
}

// readNumbers reads files of LIBSVM, and notes what their user should know.
func (s *Source) readNumbers(r *Rows, path string, beside ...string) (*numbered, error) {
	d, queries, err := s.input.Numbers(path, s.target(), nil)
	if err != nil {
		return nil, err
	}
	all, err := s.input.beside(d, beside...)
	if err != nil {
		return nil, err
	}
	n := &numbered{rows: all[0], beside: all[1:]}
	name := path
	if path == Stream {
		name = nameOfStream
	}
	tell := func(kind, text string) { r.note(name, []table.Finding{{Kind: kind, Text: text}}) }
	if libsvm.CountFromZero(n.rows.Features) {
		tell("names", "the index 0 occurs, so that indices count from 0: the features are x0, x1, ..")
	}
	switch {
	case queries == nil:
	case s.Data == "":
		tell("columns", "qid: is passed over, as the rows are divided already")
	default:
		n.group, r.Division.Group = numbersFromZero(queries), "qid"
		tell("columns", "rows of the same qid: stay together in folds and in Source.Split")
	}
	return n, nil
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

// divide divides the rows by a rule, queries as a whole.
func (n *numbered) divide(rule string, seed uint64) ([][]int, error) {
	if n.group != nil {
		return split.ByGroup(n.group, rule, seed)
	}
	return split.Random(len(n.rows.Y), rule, seed)
}

// pick are some of the rows.
func (n *numbered) pick(rows []int) *numbered {
	out := &numbered{rows: n.rows.Rows(rows)}
	if n.group != nil {
		out.group = pick(n.group, rows)
	}
	return out
}

// splitNumbers reads a folder, or files of LIBSVM.
func (s *Source) splitNumbers(r *Rows) (err error) {
	switch {
	case s.Dir != "":
		r.Split, err = ReadDir(s.Dir)
	case s.Train != "":
		var n *numbered
		if n, err = s.readNumbers(r, s.Train, s.Val, s.Test); err == nil {
			r.Split = &dataset.Split{Train: n.rows, Val: n.beside[0], Test: n.beside[1]}
		}
	default:
		err = s.divideNumbers(r)
	}
	if err != nil || !s.Several {
		return err
	}
	if err := r.Split.Validate(); err != nil {
		return err
	}
	return s.takeTargets(r)
}

// divideNumbers divides the rows of a file of LIBSVM.
func (s *Source) divideNumbers(r *Rows) error {
	n, err := s.readNumbers(r, s.Data, s.Test)
	if err != nil {
		return err
	}
	parts, err := n.divide(s.Rule(), s.Seed)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Data, err)
	}
	if s.Test != "" && len(parts) == 3 {
		return errTwoTests(s.Rule())
	}
	if r.Split = n.rows.Divide(parts); s.Test != "" {
		r.Split.Test = n.beside[0]
	}
	return nil
}

// foldNumbers reads the folds of a folder, or deals those of a file of LIBSVM.
func (s *Source) foldNumbers(r *Rows) error {
	if s.Dir != "" {
		cv, err := ReadFoldsDir(s.Dir)
		if err != nil {
			return err
		}
		r.Dealt = &Dealt{cv.Folds, 1}
		return s.folded(r, cv)
	}
	n, err := s.readNumbers(r, s.Data, s.Test)
	if err != nil {
		return err
	}
	test := n.beside[0]
	if rule := s.Rule(); rule != "" {
		parts, err := n.divide(rule, s.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Data, err)
		}
		if err := s.checkFoldRule(rule, len(parts)); err != nil {
			return err
		}
		n, test = n.pick(parts[0]), n.rows.Rows(parts[1])
	}
	deal := func(r *Rows, n *numbered, test *dataset.Data) (err error) {
		if r.Dealt, err = s.deal(n.rows, divided{Division: r.Division, group: n.group}); err != nil {
			return err
		}
		return s.folded(r, &dataset.CrossValidation{Data: n.rows, Folds: r.Dealt.Folds, Test: test})
	}
	if err := deal(r, n, test); err != nil {
		return err
	}
	r.Outer = &Outer{Data: n.rows, by: divided{Division: r.Division, group: n.group}}
	r.Outer.Without = func(train, held []int) (*Rows, error) {
		out := &Rows{Division: r.Division}
		return out, deal(out, n.pick(train), n.rows.Rows(held))
	}
	return nil
}

// folded takes tables of numbers in folds, with several targets taken out of the features.
func (s *Source) folded(r *Rows, cv *dataset.CrossValidation) error {
	r.CV, r.Split = cv, &dataset.Split{Train: cv.Data, Test: cv.Test}
	if !s.Several {
		return nil
	}
	if err := s.takeTargets(r); err != nil {
		return err
	}
	r.CV = &dataset.CrossValidation{Data: r.Split.Train, Folds: cv.Folds, Test: r.Split.Test}
	return nil
}
