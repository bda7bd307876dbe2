package input

import (
	"fmt"
	"strings"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/split"
)

// divisible is a table that was read and whose rows are to be divided.
type divisible struct {
	name string
	rows []int // that can be used
	by   func(rows []int) divided
	// learn is what training rows teach of it.
	learn func(train []int) (*learned, error)
}

// learned reads rows through what training rows taught.
type learned struct {
	encoder *table.Encoder // nil for numbers
	// of are rows of the table, and other those of another file.
	of    func(rows []int) *dataset.Data
	other func(path string) (*dataset.Data, error)
	// reading is nil for numbers.
	reading *table.Reading
}

// openColumns reads the table that says what the columns are.
func (s *Source) openColumns(r *Rows, path string) (*divisible, error) {
	t, err := s.input.Table(path, s.Options)
	if err != nil {
		return nil, err
	}
	design, err := table.Choose(t, s.Wanted)
	if err != nil {
		return nil, err
	}
	r.note(t.Name(), design.Findings())
	by := func(rows []int) divided {
		by := s.Wanted.Division
		of := split.By{Group: design.Numbers(by.Group, rows), At: design.Values(by.Time, rows)}
		return divided{by, of, design.Numbers(by.Fold, rows)}
	}
	learn := func(train []int) (*learned, error) {
		encoder, err := design.Fit(train)
		if err != nil {
			return nil, err
		}
		targets := design.Targets()
		read, err := encoder.Read(t, targets, false)
		if err != nil {
			return nil, err
		}
		sparse := read.Sparse()
		of := func(rows []int) *dataset.Data {
			data := s.encode(read, rows, targets, sparse)
			data.Weights, data.Offset = design.Values(s.Wanted.Weights, rows), design.Values(s.Wanted.Offset, rows)
			return data
		}
		other := func(path string) (*dataset.Data, error) {
			return s.other(r, path, encoder, targets, sparse)
		}
		return &learned{encoder, of, other, read}, nil
	}
	return &divisible{t.Name(), design.Rows(), by, learn}, nil
}

// other reads the rows of another table through the same encoder.
func (s *Source) other(r *Rows, path string, encoder *table.Encoder, targets []string, sparse bool) (*dataset.Data,
	error) {
	t, err := s.input.Table(path, s.Options)
	if err != nil {
		return nil, err
	}
	read, err := encoder.Read(t, targets, false)
	if err != nil {
		return nil, err
	}
	rows, err := read.Weighing(s.Wanted.Weights)
	if err != nil {
		return nil, err
	}
	data := s.encode(read, rows, targets, sparse)
	if data.Weights, err = read.Numbers(s.Wanted.Weights, rows, false); err != nil {
		return nil, err
	}
	if data.Offset, err = read.Numbers(s.Wanted.Offset, rows, false); err != nil {
		return nil, err
	}
	r.note(t.Name(), t.Findings())
	r.note(t.Name(), read.Findings())
	return data, nil
}

// unseen tells of levels that the training rows do not have.
func (l *learned) unseen() []table.Finding {
	if l.reading == nil {
		return nil
	}
	return l.reading.Unseen()
}

// divide divides the rows of a table, or takes those of other files.
func (s *Source) divide(r *Rows, t *divisible) error {
	parts := [][]int{t.rows}
	if s.Data != "" {
		var err error
		if parts, err = s.setApart(r, t, s.Rule()); err != nil {
			return err
		}
	}
	if len(parts) == 3 && s.Test != "" {
		const twice = "Source.Split %s leaves test rows, but Source.Test names a file with them: give two parts"
		return fmt.Errorf(twice, s.Rule())
	}
	l, err := t.learn(parts[0])
	if err != nil {
		return err
	}
	r.Encoder, r.Split = l.encoder, &dataset.Split{}
	sets := []**dataset.Data{&r.Split.Train, &r.Split.Val, &r.Split.Test}
	for k := range parts {
		*sets[k] = l.of(parts[k])
	}
	r.note(t.name, l.unseen())
	for k, path := range []string{"", s.Val, s.Test} {
		if path != "" {
			if *sets[k], err = l.other(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// encode are rows with their features and targets.
func (s *Source) encode(read *table.Reading, rows []int, targets []string, sparse bool) *dataset.Data {
	d := read.Encode(rows, sparse)
	if s.Several {
		several(d, targets, read.Targets(rows))
	}
	return d
}

// fold splits the rows of a table into folds.
func (s *Source) fold(r *Rows, t *divisible) error {
	rows, held := t.rows, []int(nil)
	if rule := s.Rule(); rule != "" {
		parts, err := s.setApart(r, t, rule)
		if err != nil {
			return err
		}
		switch {
		case len(parts) > 2:
			return fmt.Errorf("Source.Split %s: expected two parts, rows for the folds and rows for the test", rule)
		case s.Test != "":
			const twice = "Source.Split %s leaves test rows, but Source.Test names a file with them: leave one of the two out"
			return fmt.Errorf(twice, rule)
		}
		rows, held = parts[0], parts[1]
	}
	l, err := t.learn(rows)
	if err != nil {
		return err
	}
	folded, err := s.foldRows(r, l, t.by(rows), rows, held)
	if err != nil {
		return err
	}
	folded.Notes = r.Notes
	*r = *folded
	unseen := l.unseen() // of the rows of this table alone
	if s.Test != "" {
		test, err := l.other(s.Test)
		if err != nil {
			return err
		}
		r.Split.Test, r.CV.Test = test, test
	}
	r.note(t.name, unseen)
	r.Outer = &Outer{Data: r.CV.Data, by: t.by(rows)}
	r.Outer.Without = func(train, held []int) (*Rows, error) {
		train = indices.Pick(rows, train)
		l, err := t.learn(train)
		if err != nil {
			return nil, err
		}
		return s.foldRows(r, l, t.by(train), train, indices.Pick(rows, held))
	}
	r.Outer.drawn = func(drawn []int) (*Rows, error) {
		rows := indices.Pick(rows, drawn)
		by := t.by(rows)
		if by.Group == nil {
			by.Group = drawn // copies of a row
		}
		return s.foldRows(r, l, by, rows, nil)
	}
	return nil
}

// foldRows are rows of a table, read through what was learned and split into folds, with held rows for the test unless
// these are nil.
func (s *Source) foldRows(r *Rows, l *learned, by divided, rows, held []int) (_ *Rows, err error) {
	out := &Rows{Division: r.Division, Encoder: l.encoder, Split: &dataset.Split{}}
	out.Split.Train = l.of(rows)
	if held != nil {
		out.Split.Test = l.of(held)
	}
	out.CV = &dataset.CrossValidation{Data: out.Split.Train, Test: out.Split.Test}
	if out.CV.Folds, out.Repeats, err = s.splitFolds(out.CV.Data, by); err != nil {
		return nil, err
	}
	if l.reading != nil {
		out.CV.Gaps = l.reading.Gaps(rows, out.CV.Folds)
	}
	split.Short(out.CV.Folds, len(rows))
	return out, nil
}

// setApart divides the rows of a table by a rule, and tells of rows that it leaves over.
func (s *Source) setApart(r *Rows, t *divisible, rule string) ([][]int, error) {
	parts, err := t.by(t.rows).Sets(len(t.rows), rule, s.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	used, all := 0, len(t.rows)
	for k := range parts {
		parts[k] = indices.Pick(t.rows, parts[k])
		used += len(parts[k])
	}
	if used < all {
		text := fmt.Sprintf("Source.Split %s uses %d of %d rows", rule, used, all)
		if used == 100 && !strings.ContainsAny(rule, ".%") {
			text += ", as its numbers are rows; shares of all are " + strings.ReplaceAll(rule, "/", "%/") + "%"
		}
		r.note(t.name, []table.Finding{{Kind: "rows", Text: text}})
	}
	return parts, nil
}
