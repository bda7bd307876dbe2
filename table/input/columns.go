package input

import (
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
)

// columns is a table that was read, with the parts of its columns.
type columns struct {
	*table.Table
	design *table.Design
	rows   []int // that can be used
}

// readColumns reads the table that says what the columns are.
func (s *Source) readColumns(r *Rows, path string) (*columns, error) {
	t, err := s.input.Table(path, s.Options)
	if err != nil {
		return nil, err
	}
	design, err := table.Choose(t, s.Wanted)
	if err != nil {
		return nil, err
	}
	r.targets = design.Targets()
	r.note(t.Name(), design.Findings())
	return &columns{t, design, design.Rows()}, nil
}

// fit learns from training rows, and reads the table through what it learned.
func (c *columns) fit(train []int) (*table.Encoder, *table.Reading, error) {
	encoder, err := c.design.Fit(train)
	if err != nil {
		return nil, nil, err
	}
	r, err := encoder.Read(c.Table, c.design.Targets(), false)
	return encoder, r, err
}

// encode are rows of a table with their weights and offsets.
func (s *Source) encode(c *columns, r *table.Reading, rows []int, sparse bool) *dataset.Data {
	data := r.Encode(rows, sparse)
	data.Weights, data.Offset = c.design.Values(s.Wanted.Weights, rows), c.design.Values(s.Wanted.Offset, rows)
	return data
}

// other reads the rows of another table through the same encoder.
func (s *Source) other(r *Rows, path string, sparse bool) (*dataset.Data, [][]float64, error) {
	t, err := s.input.Table(path, s.Options)
	if err != nil {
		return nil, nil, err
	}
	read, err := r.Encoder.Read(t, r.targets, false)
	if err != nil {
		return nil, nil, err
	}
	rows, err := read.Weighing(s.Wanted.Weights)
	if err != nil {
		return nil, nil, err
	}
	data := read.Encode(rows, sparse)
	values := read.Targets(rows)
	if data.Weights, err = read.Numbers(s.Wanted.Weights, rows, false); err != nil {
		return nil, nil, err
	}
	if data.Offset, err = read.Numbers(s.Wanted.Offset, rows, false); err != nil {
		return nil, nil, err
	}
	r.note(t.Name(), t.Findings())
	r.note(t.Name(), read.Findings())
	return data, values, nil
}

// splitColumns reads and divides tables of columns.
func (s *Source) splitColumns(r *Rows) error {
	path := s.Train
	if path == "" {
		path = s.Data
	}
	c, err := s.readColumns(r, path)
	if err != nil {
		return err
	}
	parts := [][]int{c.rows}
	if s.Data != "" {
		if parts, err = s.setApart(c, s.Rule()); err != nil {
			return err
		}
	}
	if len(parts) == 3 && s.Test != "" {
		return errTwoTests(s.Rule())
	}
	encoder, read, err := c.fit(parts[0])
	if err != nil {
		return err
	}
	r.Encoder, r.Split = encoder, &dataset.Split{}
	sparse := read.Sparse()
	values := make([][][]float64, 3)
	for k, set := range []**dataset.Data{&r.Split.Train, &r.Split.Val, &r.Split.Test}[:len(parts)] {
		*set, values[k] = s.encode(c, read, parts[k], sparse), read.Targets(parts[k])
	}
	r.note(c.Name(), read.Unseen())
	if s.Val != "" {
		if r.Split.Val, values[1], err = s.other(r, s.Val, sparse); err != nil {
			return err
		}
	}
	if s.Test != "" {
		if r.Split.Test, values[2], err = s.other(r, s.Test, sparse); err != nil {
			return err
		}
	}
	if s.Several {
		r.Targets = newTargets(r.targets, values)
	}
	return nil
}

// foldColumns reads a table of columns and splits its rows into folds.
func (s *Source) foldColumns(r *Rows) error {
	c, err := s.readColumns(r, s.Data)
	if err != nil {
		return err
	}
	rows, held := c.rows, []int(nil)
	if rule := s.Rule(); rule != "" {
		parts, err := s.setApart(c, rule)
		if err != nil {
			return err
		}
		if err := s.checkFoldRule(rule, len(parts)); err != nil {
			return err
		}
		rows, held = parts[0], parts[1]
	}
	folded, err := s.foldRows(c, rows, held)
	if err != nil {
		return err
	}
	folded.Notes, folded.targets = r.Notes, r.targets
	*r = *folded
	if s.Test != "" {
		test, values, err := s.other(r, s.Test, r.CV.Data.Sparse())
		if err != nil {
			return err
		}
		r.Split.Test, r.CV.Test = test, test
		if s.Several {
			r.Targets.Test = matrixOf(values)
		}
	}
	r.note(c.Name(), r.unseen)
	r.Outer = &Outer{Data: r.CV.Data, by: c.divided(s.Wanted.Division, rows)}
	r.Outer.Without = func(train, held []int) (*Rows, error) {
		return s.foldRows(c, pick(rows, train), pick(rows, held))
	}
	return nil
}

// foldRows are rows of a table of columns, read through what they teach and split into folds, with held rows for the
// test unless these are nil.
func (s *Source) foldRows(c *columns, rows, held []int) (*Rows, error) {
	encoder, read, err := c.fit(rows)
	if err != nil {
		return nil, err
	}
	sparse := read.Sparse()
	out := &Rows{Division: s.Wanted.Division, Encoder: encoder, unseen: read.Unseen()}
	out.Split = &dataset.Split{Train: s.encode(c, read, rows, sparse)}
	values := [][][]float64{read.Targets(rows), nil, nil}
	if held != nil {
		out.Split.Test, values[2] = s.encode(c, read, held, sparse), read.Targets(held)
	}
	out.CV = &dataset.CrossValidation{Data: out.Split.Train, Test: out.Split.Test}
	if out.CV.Folds, out.Repeats, err = s.splitFolds(out.CV.Data, c.divided(s.Wanted.Division, rows)); err != nil {
		return nil, err
	}
	out.CV.Gaps = read.Gaps(rows, out.CV.Folds)
	if s.Several {
		out.Targets = newTargets(c.design.Targets(), values)
	}
	return out, nil
}
