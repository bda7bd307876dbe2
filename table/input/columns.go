package input

import (
	"fmt"

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
func (c *columns) encode(r *table.Reading, rows []int, sparse bool) *dataset.Data {
	data := r.Encode(rows, sparse)
	data.Weights, data.Offset = c.design.Weights(rows), c.design.Offset(rows)
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
	rows := read.Rows()
	if name := s.Wanted.Weights; name != "" {
		if rows, err = weighing(t, read, name); err != nil {
			return nil, nil, err
		}
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

// weighing are the rows of a further table whose weights are not 0.
func weighing(t *table.Table, r *table.Reading, name string) (rows []int, err error) {
	weights, err := r.Numbers(name, r.Rows(), false)
	if err != nil {
		return nil, err
	}
	for k, w := range weights {
		i := r.Rows()[k]
		if w < 0 {
			return nil, fmt.Errorf("%s:%d: column %q: %g found, expected a weight that is not negative",
				t.Name(), t.Line(i), name, w)
		}
		if w > 0 {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return nil, fmt.Errorf("%s: column %q: no row has a weight above 0", t.Name(), name)
	}
	return rows, nil
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
		*set, values[k] = c.encode(read, parts[k], sparse), read.Targets(parts[k])
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

// foldColumns reads a table of columns and deals its rows out to folds.
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
	dealt, err := s.foldRows(c, rows, held)
	if err != nil {
		return err
	}
	dealt.Notes, dealt.targets = r.Notes, r.targets
	*r = *dealt
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

// foldRows are rows of a table of columns, read through what they teach and dealt out to folds, with held rows for the
// test unless these are nil.
func (s *Source) foldRows(c *columns, rows, held []int) (*Rows, error) {
	encoder, read, err := c.fit(rows)
	if err != nil {
		return nil, err
	}
	sparse := read.Sparse()
	out := &Rows{Division: s.Wanted.Division, Encoder: encoder, unseen: read.Unseen()}
	out.Split = &dataset.Split{Train: c.encode(read, rows, sparse)}
	values := [][][]float64{read.Targets(rows), nil, nil}
	if held != nil {
		out.Split.Test, values[2] = c.encode(read, held, sparse), read.Targets(held)
	}
	if out.Dealt, err = s.deal(out.Split.Train, c.divided(s.Wanted.Division, rows)); err != nil {
		return nil, err
	}
	out.CV = &dataset.CrossValidation{Data: out.Split.Train, Folds: out.Dealt.Folds, Test: out.Split.Test}
	out.CV.Gaps = read.Gaps(rows, out.CV.Folds)
	if s.Several {
		out.Targets = newTargets(c.design.Targets(), values)
	}
	return out, nil
}
