package main

import (
	"fmt"

	"github.com/conetune/conetune/problems/dataset"
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
	table, err := d.input.numbers(d.data, d.target)
	if err != nil {
		return nil, err
	}
	s, err := dataset.SplitRows(table, d.rule(), seed)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", d.data, err)
	case d.test == "":
		return s, nil
	case s.Test != nil:
		return nil, errTwoTests(d.rule())
	}
	all, err := dataset.ReadBeside(table, d.test)
	if err != nil {
		return nil, err
	}
	if all[0] != table { // with further features
		if s, err = dataset.SplitRows(all[0], d.rule(), seed); err != nil {
			return nil, err
		}
	}
	s.Test = all[1]
	return s, nil
}

// numbers reads files of LIBSVM that are divided already.
func (d *dataFlags) numbers(train, val, test string) (*dataset.Split, error) {
	table, err := d.input.numbers(train, d.target)
	if err != nil {
		return nil, err
	}
	all, err := dataset.ReadBeside(table, val, test)
	if err != nil {
		return nil, err
	}
	return &dataset.Split{Train: all[0], Val: all[1], Test: all[2]}, nil
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
	data, test, err := d.setNumbersApart(seed)
	if err != nil {
		return nil, err
	}
	out, err := d.foldData(data, test, seed, labels)
	if err != nil {
		return nil, err
	}
	d.dealt = out.dealt
	out.outer = &outerRows{data, divided{}, func(train, held []int) (*tables, error) {
		return d.foldData(data.Rows(train), data.Rows(held), seed, labels)
	}}
	return out, nil
}

// foldData deals the rows of a table of numbers out to folds.
func (d *dataFlags) foldData(data, test *dataset.Data, seed uint64, labels bool) (*tables, error) {
	dealt, err := d.deal(data, divided{}, seed, labels)
	if err != nil {
		return nil, err
	}
	out, err := d.foldedTables(&dataset.CrossValidation{Data: data, Folds: dealt.folds, Test: test})
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
func (d *dataFlags) setNumbersApart(seed uint64) (table, test *dataset.Data, err error) {
	if table, err = d.input.numbers(d.data, d.target); err != nil {
		return nil, nil, err
	}
	if d.test != "" {
		all, err := dataset.ReadBeside(table, d.test)
		if err != nil {
			return nil, nil, err
		}
		table, test = all[0], all[1]
	}
	if rule := d.rule(); rule != "" {
		s, err := dataset.SplitRows(table, rule, seed)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", d.data, err)
		}
		parts := 2
		if s.Test != nil {
			parts = 3
		}
		if err := d.checkFoldRule(rule, parts); err != nil {
			return nil, nil, err
		}
		table, test = s.Train, s.Val
	}
	return table, test, nil
}
