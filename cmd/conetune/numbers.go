package main

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/split"
)

// Tables of numbers: those of folders, and files in the format of LIBSVM.

// readSplit reads a folder, or files of LIBSVM.
func (d *dataFlags) readSplit(seed uint64) (*dataset.Split, error) {
	switch {
	case d.dir != "":
		return dataset.ReadDir(d.dir)
	case d.train != "":
		return d.numbers(d.train, d.val, d.test)
	}
	n, err := d.readNumbers(d.data, d.test)
	if err != nil {
		return nil, err
	}
	parts, err := n.divide(d.rule(), seed)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", d.data, err)
	case d.test == "":
		return n.rows.Divide(parts), nil
	case len(parts) == 3:
		return nil, errTwoTests(d.rule())
	}
	s := n.rows.Divide(parts)
	s.Test = n.beside[0]
	return s, nil
}

// numbered are the rows of a file of LIBSVM, and those of the files beside it, nil for an empty name.
type numbered struct {
	rows   *dataset.Data
	beside []*dataset.Data
	group  []int // the queries of the rows, from 0; nil for none
}

// readNumbers reads files of LIBSVM, and notes what their user should know.
func (d *dataFlags) readNumbers(path string, beside ...string) (*numbered, error) {
	t, err := d.input.numbers(path, d.target)
	if err != nil {
		return nil, err
	}
	all, err := dataset.ReadBeside(dataset.FromTable(t), beside...)
	if err != nil {
		return nil, err
	}
	n := &numbered{rows: all[0], beside: all[1:]}
	d.reading = &reading{}
	name := path
	if path == standardStream {
		name = nameOfInput
	}
	tell := func(kind, text string) {
		d.reading.notes = append(d.reading.notes, note{name, table.Finding{Kind: kind, Text: text}})
	}
	if formats.CountFromZero(n.rows.Features) {
		tell("names", "the index 0 occurs, so that indices count from 0: the features are x0, x1, ..")
	}
	switch {
	case t.Queries == nil:
	case d.data == "":
		tell("columns", "qid: is passed over, as the rows are divided already")
	default:
		n.group, d.columns.division.Group = numbersOf(t.Queries), "qid"
		tell("columns", "rows of the same qid: stay together in folds and in --split")
	}
	return n, nil
}

// numbersOf numbers values from 0 in their order.
func numbersOf(values []int64) []int {
	sorted := slices.Compact(slices.Sorted(slices.Values(values)))
	numbers := make([]int, len(values))
	for k, v := range values {
		numbers[k], _ = slices.BinarySearch(sorted, v)
	}
	return numbers
}

// divide divides the rows by a rule of --split, queries as a whole.
func (n *numbered) divide(rule string, seed uint64) ([][]int, error) {
	if n.group != nil {
		return split.ByGroup(n.group, rule, seed)
	}
	return split.Random(len(n.rows.Y), rule, seed)
}

// numbers reads files of LIBSVM that are divided already.
func (d *dataFlags) numbers(train, val, test string) (*dataset.Split, error) {
	n, err := d.readNumbers(train, val, test)
	if err != nil {
		return nil, err
	}
	return &dataset.Split{Train: n.rows, Val: n.beside[0], Test: n.beside[1]}, nil
}

// foldNumbers reads the folds of a folder, or deals those of a file of LIBSVM.
func (d *dataFlags) foldNumbers(seed uint64, labels bool) (*tables, error) {
	if d.dir != "" {
		cv, err := dataset.ReadFoldsDir(d.dir)
		if err != nil {
			return nil, err
		}
		d.dealt = &dealt{cv.Folds, 1}
		return d.foldedTables(cv)
	}
	n, test, err := d.setNumbersApart(seed)
	if err != nil {
		return nil, err
	}
	out, err := d.foldData(n, test, seed, labels)
	if err != nil {
		return nil, err
	}
	d.dealt = out.dealt
	out.outer = &outerRows{n.rows, divided{group: n.group}, func(train, held []int) (*tables, error) {
		return d.foldData(n.pick(train), n.rows.Rows(held), seed, labels)
	}}
	return out, nil
}

// pick are some of the rows.
func (n *numbered) pick(rows []int) *numbered {
	out := &numbered{rows: n.rows.Rows(rows)}
	if n.group != nil {
		out.group = pick(n.group, rows)
	}
	return out
}

// foldData deals the rows of a table of numbers out to folds.
func (d *dataFlags) foldData(n *numbered, test *dataset.Data, seed uint64, labels bool) (*tables, error) {
	dealt, err := d.deal(n.rows, divided{group: n.group}, seed, labels)
	if err != nil {
		return nil, err
	}
	out, err := d.foldedTables(&dataset.CrossValidation{Data: n.rows, Folds: dealt.folds, Test: test})
	if err != nil {
		return nil, err
	}
	out.dealt = dealt
	return out, nil
}

// foldedTables are tables of numbers in folds, with several targets taken out of the features.
func (d *dataFlags) foldedTables(cv *dataset.CrossValidation) (*tables, error) {
	t := &tables{cv: cv, split: &dataset.Split{Train: cv.Data, Test: cv.Test}}
	if d.several {
		var err error
		if t.split, t.targets, err = d.splitTargets(t.split); err != nil {
			return nil, err
		}
		t.targets.folds = cv.Folds
		t.cv = &dataset.CrossValidation{Data: t.split.Train, Folds: cv.Folds, Test: t.split.Test}
	}
	return t, nil
}

// setNumbersApart reads a file of LIBSVM, and sets the rows for the test apart.
func (d *dataFlags) setNumbersApart(seed uint64) (n *numbered, test *dataset.Data, err error) {
	if n, err = d.readNumbers(d.data, d.test); err != nil {
		return nil, nil, err
	}
	test = n.beside[0]
	if rule := d.rule(); rule != "" {
		parts, err := n.divide(rule, seed)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", d.data, err)
		}
		if err := d.checkFoldRule(rule, len(parts)); err != nil {
			return nil, nil, err
		}
		n, test = n.pick(parts[0]), n.rows.Rows(parts[1])
	}
	return n, test, nil
}
