// Package input reads tables of any kind and divides their rows for a choice of hyperparameters, as the command does.
//
//	source := input.Source{Data: "table.csv", Wanted: table.Wanted{Targets: []string{"price"}}}
//	rows, err := source.Read()
//
// A table may be text in any dialect, compressed, a workbook, Arrow, Parquet or in the format of LIBSVM. Errors speak
// of options by the names that they have here and in package table, Source.Split for example.
package input

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/split"
)

// Stream is the name of standard input.
const Stream = "-"

// SplitAll is the [Source.Split] that leaves no rows for a test.
const SplitAll = "all"

// The division of rows where the caller does not say: folds of one table, twice as many of a small one, or parts where
// there are to be no folds, the second one where the test rows come from a file of their own.
const (
	DefaultFolds       = 5
	DefaultSplit       = "0.5/0.25/rest"
	DefaultSplitTested = "0.67/rest"
)

// Source says where rows come from, what the columns of their table are for, and how they are divided.
type Source struct {
	// Data is one table, whose rows are split into folds, or divided by Split. Train and Val are tables that are
	// divided already. Test is one for a last look, beside either. Dir is a folder with train, val and perhaps test, or
	// with data, folds and perhaps test, see [ReadDir].
	Data, Train, Val, Test, Dir string
	// Stdin is what the file [Stream] is read from.
	Stdin io.Reader
	// Options say how tables are written, and Wanted what their columns are for.
	Options table.Options
	Wanted  table.Wanted
	// Several says that all of Wanted.Targets are targets of one model.
	Several bool
	// Split is a rule as that of [split.By.Sets]: rows for training, validation and test, or with folds rows for these
	// and the test. Empty and [SplitAll] leave all rows to the folds.
	Split string
	// Folds is their number, 0 for what the table is worth, unless Split divides the rows. Each says that each row, or
	// each group, is a fold.
	Folds int
	Each  bool
	// Repeats is how often rows are split into folds, 0 for what the table is worth.
	Repeats int
	// Always says that there are folds whatever the other fields say.
	Always bool
	// Seed is that of chance.
	Seed uint64

	input Input
}

// Rows are the rows of a choice.
type Rows struct {
	// Split are the rows in their parts. With a cross-validation, Train are all rows of the folds, and Val is nil.
	Split *dataset.Split
	CV    *dataset.CrossValidation // nil where the rows are divided
	// Encoder is what the training rows taught of a table of columns; nil for other data.
	Encoder *table.Encoder
	// Repeats is how often rows were split into folds, 0 without; the folds of one repeat stand after those of another.
	Repeats int
	// Division are the columns by which rows are divided, qid of files of LIBSVM among them.
	Division table.Division
	// Notes are what their user should know about the files.
	Notes []table.Finding
	// Outer are the rows to split for a nested cross-validation; nil where there are none.
	Outer *Outer
}

// Outer are rows that can be split into outer folds.
type Outer struct {
	Data *dataset.Data
	// Without are some of the rows in folds, with others for the test.
	Without func(train, held []int) (*Rows, error)
	drawn   func(rows []int) (*Rows, error)
	by      divided
}

// Draw draws as many rows as there are with replacement, or where they are divided by groups as many groups, by the
// seed and the number of the sample alone, see [split.Draw]. They are read through what all rows teach, so that samples
// have the same features, and are split into folds anew, in which the copies of a row stay together: no model is
// validated by rows that it was trained on. Rows in the order of time are refused, as they are not independent of each
// other.
func (o *Outer) Draw(seed uint64, sample int) (*Rows, error) {
	if o.Timed() {
		return nil, fmt.Errorf("rows in the order of the column %q depend on those before, and can not be drawn one by one",
			o.by.names.Time)
	}
	n, _ := o.Data.Dims()
	rows, err := o.drawn(split.Draw(n, o.by.Group, seed, sample))
	if err == nil {
		err = rows.CV.Validate()
	}
	return rows, err
}

// Grouped and Timed say that the rows are divided by groups or by time.
func (o *Outer) Grouped() bool { return o.by.Group != nil }
func (o *Outer) Timed() bool   { return o.by.At != nil }

// ForModel are the rows as models take them.
func (r *Rows) ForModel() dataset.Division {
	if r.CV != nil {
		return r.CV
	}
	return r.Split
}

// ValidationRows counts the rows that validate, those of all folds together.
func (r *Rows) ValidationRows() int {
	n, _ := r.Split.Val.Dims()
	if r.CV != nil {
		for _, f := range r.CV.Folds {
			n += len(f.Val)
		}
	}
	return n
}

// Label is the text of a label.
func (r *Rows) Label(v float64) string {
	if r.Encoder != nil && r.Encoder.Labels != nil {
		return r.Encoder.Labels[int(v)]
	}
	return fmt.Sprintf("%.6g", v)
}

// Explain adds to an error about labels which texts they stand for.
func (r *Rows) Explain(err error) error {
	if err == nil || r.Encoder == nil || r.Encoder.Labels == nil || !strings.Contains(err.Error(), "label") {
		return err
	}
	labels := r.Encoder.Labels
	if len(labels) > 2 {
		return fmt.Errorf("%w (label 0 is %q, label 1 %q, and so on)", err, labels[0], labels[1])
	}
	return fmt.Errorf("%w (label 0 is %q and label 1 %q)", err, labels[0], labels[1])
}

// note adds what was found in a table.
func (r *Rows) note(file string, list []table.Finding) {
	for _, f := range list {
		f.File = file
		r.Notes = append(r.Notes, f)
	}
}

// Files are the files or folders as given.
func (s *Source) Files() []string {
	var list []string
	for _, f := range []string{s.Dir, s.Data, s.Train, s.Val, s.Test} {
		if f != "" {
			list = append(list, f)
		}
	}
	return list
}

// CrossValidates says whether a model is chosen by folds.
func (s *Source) CrossValidates() bool {
	if s.Always || s.Folds != 0 || s.Each || s.Dir != "" && hasFolds(s.Dir) {
		return true
	}
	all := s.Split == "" || s.Split == SplitAll || s.Wanted.Division.Fold != ""
	return s.Data != "" && s.Train == "" && s.Val == "" && s.Dir == "" && all
}

// Rule is the rule by which rows are divided, empty where they are divided already or all go to the folds.
func (s *Source) Rule() string {
	switch {
	case s.Split == SplitAll || s.Wanted.Division.Fold != "":
		return ""
	case s.Data == "" || s.Split != "":
		return s.Split
	case s.CrossValidates():
		return ""
	}
	return DefaultRule(s.Test != "")
}

// DefaultRule divides rows into parts where there are no folds; tested says that test rows come from a file of their
// own.
func DefaultRule(tested bool) string {
	if tested {
		return DefaultSplitTested
	}
	return DefaultSplit
}

// Close gives back what was put aside of streams, so that files can be read no more.
func (s *Source) Close() { s.input.Close() }

// ofColumns says whether the data are tables of columns, and not those of a folder or of LIBSVM.
func (s *Source) ofColumns() bool {
	return s.Data != "" && !s.input.IsLIBSVM(s.Data) || s.Train != "" && !s.input.IsLIBSVM(s.Train)
}

// ForColumns is the first option for tables of columns that is set, which other data do not take; empty for none.
func (s *Source) ForColumns() string {
	w, o := s.Wanted, s.Options
	w.Targets, w.Classes, w.MostClasses, w.Survival = nil, false, 0, false // of all data
	o.Verbatim, o.Formats = nil, nil
	for _, of := range []struct {
		name   string
		fields any
	}{{"Division", w.Division}, {"Forms", w.Forms}, {"Wanted", w}, {"Options", o}} {
		fields := reflect.ValueOf(of.fields)
		for k := range fields.NumField() {
			if !fields.Field(k).IsZero() {
				return of.name + "." + fields.Type().Field(k).Name
			}
		}
	}
	return ""
}

// Read reads the tables and divides their rows. An error about labels has the texts that these stand for.
func (s *Source) Read() (*Rows, error) {
	s.input.Stdin = s.Stdin
	r := &Rows{Division: s.Wanted.Division}
	if err := s.read(r); err != nil {
		return nil, r.Explain(err)
	}
	return r, nil
}

func (s *Source) read(r *Rows) (err error) {
	columns, folds := s.ofColumns(), s.CrossValidates()
	path := s.Train
	if path == "" || folds {
		path = s.Data
	}
	var t *divisible
	switch option := s.ForColumns(); {
	case s.Data == "" && s.Train == "" && s.Dir == "":
		return errors.New("no data: Source.Data, Source.Train or Source.Dir says where they are")
	case !columns && option != "":
		return fmt.Errorf("%s goes with a table of columns; %s is in the format of LIBSVM", option, s.Files()[0])
	case columns:
		t, err = s.openColumns(r, path)
	case s.Dir != "":
		err = s.readDir(r, folds)
	default:
		t, err = s.openNumbers(r, path)
	}
	switch {
	case err != nil || t == nil:
	case folds:
		err = s.fold(r, t)
	default:
		err = s.divide(r, t)
	}
	if err != nil {
		return err
	}
	if s.Test != "" {
		s.tellCopies(r)
	}
	if r.CV == nil {
		if err := r.Split.Validate(); err != nil {
			return err
		}
		// One row has no spread: nothing can be standardised or fitted to it.
		if n, _ := r.Split.Train.Dims(); n < 2 {
			return fmt.Errorf("%s: %d training row, expected at least 2", strings.Join(s.Files(), ", "), n)
		}
		return nil
	}
	if err := r.CV.Validate(); err != nil {
		return err
	}
	for k, f := range r.CV.Folds {
		if trained := f.Trained(len(r.CV.Data.Y)); trained < 2 {
			return fmt.Errorf("%s: fold %d has %d training row, expected at least 2",
				strings.Join(s.Files(), ", "), k, trained)
		}
	}
	return nil
}

// tellCopies tells of a file of test rows of which more than half are rows that the model learns from, where these are
// no copies of each other, as rows of a few categories are.
func (s *Source) tellCopies(r *Rows) {
	learned, rows, copies := map[uint64]bool{}, 0, 0
	for _, d := range []*dataset.Data{r.Split.Train, r.Split.Val} {
		n, _ := d.Dims()
		for i := range n {
			learned[hashOf(d, i)] = true
		}
		rows += n
	}
	n, _ := r.Split.Test.Dims()
	for i := range n {
		if learned[hashOf(r.Split.Test, i)] {
			copies++
		}
	}
	if 2*copies > n && 2*len(learned) > rows {
		r.note(s.Test, []table.Finding{{Kind: "hint", Text: fmt.Sprintf("%d of %d test rows have the features and the "+
			"target of a row that the model learns from: they do not say how it predicts new rows", copies, n)}})
	}
}

// hashOf is a number of the target and the features of a row, hardly that of another row.
func hashOf(d *dataset.Data, i int) uint64 {
	const odd = 0x9e3779b97f4a7c15 // of splitmix64
	h := math.Float64bits(d.Y[i]) * odd
	index, value := d.Row(i)
	for k, v := range value {
		if index != nil {
			k = index[k]
		}
		if v != 0 { // a sparse table has no zeros
			h = (h ^ math.Float64bits(v) + uint64(k)) * odd
			h ^= h >> 32
		}
	}
	return h
}
