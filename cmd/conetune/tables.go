package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/multitask"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/arrow"
	"github.com/conetune/conetune/table/xlsx"
	"github.com/conetune/conetune/tune"
)

// nameOfInput is standard input in messages.
const nameOfInput = "standard input"

// dataInput reads files of data. What can be read once only, standard input, a pipe or a device, is kept for all who ask.
type dataInput struct {
	stdin   io.Reader
	streams map[string]*stream // by their paths
}

// stream is the stream of a path, nil for a file, which can be read again.
func (in *dataInput) stream(path string) *stream {
	if s := in.streams[path]; s != nil {
		return s
	}
	name, from := path, in.stdin
	if path == standardStream {
		name = nameOfInput
	} else {
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil // and who reads it says why
		}
		defer f.Close()
		from = f
	}
	if in.streams == nil {
		in.streams = map[string]*stream{}
	}
	s := readStream(name, from)
	in.streams[path] = s
	return s
}

// close gives back what was put aside.
func (in *dataInput) close() {
	for _, s := range in.streams {
		s.close()
	}
}

// otherFormats are those of tables that are not text.
func otherFormats() []table.Format {
	return []table.Format{xlsx.Format(), parquetFormat(), arrow.Format()}
}

// table reads a table of columns.
func (in *dataInput) table(path string, o table.Options) (*table.Table, error) {
	o.Formats = otherFormats()
	s := in.stream(path)
	switch {
	case s == nil:
		return table.Read(path, o)
	case s.err != nil:
		return nil, s.err
	}
	return table.ReadAt(s.name, s.text, s.text.Size(), o)
}

// tableParts reads a table of columns a part after another, see [table.ReadParts].
func (in *dataInput) tableParts(path string, o table.Options, begin func(), hand func(*table.Table) error) ([]table.Finding, error) {
	o.Formats = otherFormats()
	s := in.stream(path)
	switch {
	case s == nil:
		return table.ReadParts(path, o, begin, hand)
	case s.err != nil:
		return nil, s.err
	}
	return table.ReadPartsAt(s.name, s.text, s.text.Size(), o, begin, hand)
}

// source opens a file of numbers.
func (in *dataInput) source(path string) (*textfile.Source, error) {
	s := in.stream(path)
	switch {
	case s == nil:
		return textfile.Open(path)
	case s.err != nil:
		return nil, s.err
	}
	return textfile.NewSource(s.name, io.NewSectionReader(s.text, 0, s.text.Size()))
}

// isLIBSVM says whether a file is in that format; one that cannot be read is not, and its reader says why.
func (in *dataInput) isLIBSVM(path string) bool {
	s, err := in.source(path)
	if err != nil {
		return false
	}
	defer s.Close()
	return formats.IsLIBSVM(s)
}

// numbers reads a file of LIBSVM.
func (in *dataInput) numbers(path, target string) (*formats.Table, error) {
	s, err := in.source(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return formats.ReadTableSource(s, formats.Options{Target: target})
}

// note is a finding with the file that it is about.
type note struct {
	File string `json:"file"`
	table.Finding
}

// reading is what the tables of columns of a run have in common.
type reading struct {
	encoder *table.Encoder
	targets []string
	notes   []note
}

func (r *reading) add(t *table.Table, list []table.Finding) {
	for _, f := range list {
		r.notes = append(r.notes, note{t.Name(), f})
	}
}

// columns is a table that was read, with the parts of its columns.
type columns struct {
	*table.Table
	design *table.Design
	rows   []int // that can be used
}

// readColumns reads the table that says what the columns are.
func (d *dataFlags) readColumns(path string, labels bool) (*columns, error) {
	t, err := d.input.table(path, d.columns.Options)
	if err != nil {
		return nil, err
	}
	targets := d.targets
	if targets == nil && d.target != "" {
		targets = []string{d.target}
	}
	design, err := table.Choose(t, d.columns.wanted(targets, labels, d.mostClasses))
	if err != nil {
		return nil, err
	}
	d.reading = &reading{targets: design.Targets()}
	d.reading.add(t, design.Findings())
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

// other reads the rows of another table through the same encoder.
func (d *dataFlags) other(path string, sparse bool) (*dataset.Data, [][]float64, error) {
	t, err := d.input.table(path, d.columns.Options)
	if err != nil {
		return nil, nil, err
	}
	r, err := d.reading.encoder.Read(t, d.reading.targets, false)
	if err != nil {
		return nil, nil, err
	}
	rows := r.Rows()
	if d.columns.weights != "" {
		if rows, err = weighing(t, r, d.columns.weights); err != nil {
			return nil, nil, err
		}
	}
	data := r.Encode(rows, sparse)
	values := r.Targets(rows)
	if data.Weights, err = r.Numbers(d.columns.weights, rows, false); err != nil {
		return nil, nil, err
	}
	if data.Offset, err = r.Numbers(d.columns.offset, rows, false); err != nil {
		return nil, nil, err
	}
	d.reading.add(t, t.Findings())
	d.reading.add(t, r.Findings())
	return data, values, nil
}

// encode are rows of a table with their weights and offsets.
func (c *columns) encode(r *table.Reading, rows []int, sparse bool) *dataset.Data {
	data := r.Encode(rows, sparse)
	data.Weights, data.Offset = c.design.Weights(rows), c.design.Offset(rows)
	return data
}

// splitTables reads and divides tables of columns.
func (d *dataFlags) splitTables(seed uint64, labels bool) (*tables, error) {
	path := d.train
	if path == "" {
		path = d.data
	}
	c, err := d.readColumns(path, labels)
	if err != nil {
		return nil, err
	}
	parts := [][]int{c.rows}
	if d.data != "" {
		if parts, err = d.setApart(c, d.rule(), seed); err != nil {
			return nil, err
		}
	}
	if len(parts) == 3 && d.test != "" {
		return nil, errTwoTests(d.rule())
	}
	encoder, r, err := c.fit(parts[0])
	if err != nil {
		return nil, err
	}
	d.reading.encoder = encoder
	sparse := r.Sparse()
	s := &dataset.Split{}
	values := make([][][]float64, 3)
	for k, set := range []**dataset.Data{&s.Train, &s.Val, &s.Test}[:len(parts)] {
		*set, values[k] = c.encode(r, parts[k], sparse), r.Targets(parts[k])
	}
	d.reading.add(c.Table, r.Unseen())
	if d.val != "" {
		if s.Val, values[1], err = d.other(d.val, sparse); err != nil {
			return nil, err
		}
	}
	if d.test != "" {
		if s.Test, values[2], err = d.other(d.test, sparse); err != nil {
			return nil, err
		}
	}
	out := &tables{split: s}
	if d.several {
		out.targets = d.targetsOf(s, values)
	}
	return out, nil
}

func errTwoTests(rule string) error {
	return fmt.Errorf("--split %s leaves test rows, but --test names a file with them: give two parts", rule)
}

// foldTables reads a table of columns and deals its rows out to folds.
func (d *dataFlags) foldTables(seed uint64, labels bool) (*tables, error) {
	c, err := d.readColumns(d.data, labels)
	if err != nil {
		return nil, err
	}
	rows, held := c.rows, []int(nil)
	if rule := d.rule(); rule != "" {
		parts, err := d.setApart(c, rule, seed)
		if err != nil {
			return nil, err
		}
		if err := d.checkFoldRule(rule, len(parts)); err != nil {
			return nil, err
		}
		rows, held = parts[0], parts[1]
	}
	out, err := d.foldRows(c, rows, held, seed, labels)
	if err != nil {
		return nil, err
	}
	d.reading.encoder, d.dealt = out.encoder, out.dealt
	if d.test != "" {
		test, values, err := d.other(d.test, out.cv.Data.Sparse())
		if err != nil {
			return nil, err
		}
		out.split.Test, out.cv.Test = test, test
		if d.several {
			out.targets.test = d.targetsOf(&dataset.Split{Test: test}, [][][]float64{nil, nil, values}).test
		}
	}
	d.reading.add(c.Table, out.unseen)
	out.outer = &outerRows{out.cv.Data, c.divided(d.columns.division, rows), func(train, held []int) (*tables, error) {
		return d.foldRows(c, pick(rows, train), pick(rows, held), seed, labels)
	}}
	return out, nil
}

// foldRows are rows of a table of columns, read through what they teach and dealt out to folds, with held rows for the test unless these are nil.
func (d *dataFlags) foldRows(c *columns, rows, held []int, seed uint64, labels bool) (*tables, error) {
	encoder, r, err := c.fit(rows)
	if err != nil {
		return nil, err
	}
	sparse := r.Sparse()
	out := &tables{encoder: encoder, unseen: r.Unseen(), split: &dataset.Split{Train: c.encode(r, rows, sparse)}}
	values := [][][]float64{r.Targets(rows), nil, nil}
	if held != nil {
		out.split.Test, values[2] = c.encode(r, held, sparse), r.Targets(held)
	}
	if out.dealt, err = d.deal(out.split.Train, c.divided(d.columns.division, rows), seed, labels); err != nil {
		return nil, err
	}
	out.cv = &dataset.CrossValidation{Data: out.split.Train, Folds: out.dealt.folds, Test: out.split.Test}
	out.cv.Gaps = r.Gaps(rows, out.cv.Folds)
	if d.several {
		out.targets = d.targetsOf(out.split, values)
		out.targets.folds, out.targets.gaps = out.cv.Folds, out.cv.Gaps
	}
	return out, nil
}

// targetsOf are the tables of several targets.
func (d *dataFlags) targetsOf(s *dataset.Split, values [][][]float64) *targetTables {
	t := &targetTables{names: d.reading.targets}
	for k, set := range []struct {
		from *dataset.Data
		to   **multitask.Data
	}{{s.Train, &t.train}, {s.Val, &t.val}, {s.Test, &t.test}} {
		if set.from == nil {
			continue
		}
		y := mat.NewDense(len(set.from.Y), len(t.names), nil)
		for q, column := range values[k] {
			y.SetCol(q, column)
		}
		*set.to = &multitask.Data{X: set.from.Dense(), Y: y}
	}
	return t
}

// tell writes the findings about the tables, a line for each.
func (a *app) tell(r *reading) {
	if r == nil {
		return
	}
	for _, n := range r.notes {
		a.note("%s: %s", n.File, strings.ReplaceAll(n.Text, "\n", " "))
	}
}

// toldResult is a result with its coefficients, the findings about its tables, and how good its predictions are.
type toldResult struct {
	*tune.Result
	notes   []note
	judged  *judged        // nil for nothing to say
	several *judgedTargets // the same of several targets
	nested  *nested        // nil without
	stable  []float64      // the share of the folds that have each feature; nil without folds
}

// MarshalJSON writes the fields of the result, its coefficients, and the findings and measures where there are any.
func (r toldResult) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.Result)
	if err != nil {
		return nil, err
	}
	var more struct {
		*toldCoefficients
		Chosen   map[string]float64                    `json:"chosen_by_folds,omitempty"`
		Findings []note                                `json:"findings,omitempty"`
		On       string                                `json:"metrics_on,omitempty"`
		Metrics  map[string]evaluate.Metric            `json:"metrics,omitempty"`
		Targets  map[string]map[string]evaluate.Metric `json:"metrics_of_targets,omitempty"`
		Nested   *nested                               `json:"nested,omitempty"`
	}
	more.Findings, more.Nested = r.notes, r.nested
	if r.judged != nil {
		more.On, more.Metrics = r.judged.on, byName(r.judged.metrics)
	}
	if r.several != nil {
		more.On, more.Targets = r.several.on, map[string]map[string]evaluate.Metric{}
		for _, t := range r.several.list {
			more.Targets[t.name] = byName(t.metrics)
		}
	}
	if r.Refit != nil && r.RefitFit.Matrix == nil {
		more.toldCoefficients = tellCoefficients(r.RefitFit)
		if r.stable != nil {
			more.Chosen = map[string]float64{}
			for _, e := range sortedEffects(r.RefitFit, r.stable) {
				more.Chosen[e.feature] = r.stable[e.at]
			}
		}
	}
	rest, err := json.Marshal(more)
	if err != nil || len(rest) == len("{}") {
		return text, err
	}
	return append(append(text[:len(text)-1], ','), rest[1:]...), nil
}

// byName are measures by their names.
func byName(list []evaluate.Metric) map[string]evaluate.Metric {
	out := map[string]evaluate.Metric{}
	for _, m := range list {
		out[m.Name] = m
	}
	return out
}

// encoder is what was learned from the training rows of tables of columns, nil for other data.
func (d *dataFlags) encoder() *table.Encoder {
	if d.reading == nil {
		return nil
	}
	return d.reading.encoder
}

// label is the text of a label.
func (d *dataFlags) label(v float64) string { return labelText(d.encoder(), v) }

// labelText is the text that a label stands for.
func labelText(e *table.Encoder, v float64) string {
	if e != nil && e.Labels != nil {
		return e.Labels[int(v)]
	}
	return number(v)
}

// explain adds to an error about labels which texts they stand for.
func (d *dataFlags) explain(err error) error {
	e := d.encoder()
	if err == nil || e == nil || e.Labels == nil || !strings.Contains(err.Error(), "label") {
		return err
	}
	if len(e.Labels) > 2 {
		return fmt.Errorf("%w (label 0 is %q, label 1 %q, and so on)", err, e.Labels[0], e.Labels[1])
	}
	return fmt.Errorf("%w (label 0 is %q and label 1 %q)", err, e.Labels[0], e.Labels[1])
}
