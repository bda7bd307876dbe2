// Package export writes a saved model in another language: a file that predicts what conetune predict does, with all of
// the preparation of its columns, and needs nothing else.
//
// A model becomes a [Program], which says what is done with a row: each column that the model uses adds to one score or
// several, by its number times weights, by the weights of its level, or by those of a gap; a link and a decision make
// predictions of the scores. Each language is one printer of it.
//
// Python, R and Go read texts as table does: numbers with units and thousands, dates, spellings of missing values.
// SQL, PMML and ONNX take columns that have types: numbers, texts and, but for ONNX, dates.
package export

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table"
)

// The links of a [Program].
const (
	Identity = "identity" // predictions are the scores
	Exp      = "exp"      // their exponentials
	Sign     = "sign"     // the second label, where the score is above the threshold
	Logit    = "logit"    // the same, with the probabilities 1/(1 + exp(-score)) of the second one, and of the first
	Softmax  = "softmax"  // a score for each label, whose exponentials are in proportion to the probabilities
)

// Program is what a model does with a row.
type Program struct {
	// Title says in a line what the model is, and Target is the column that it predicts, the first of several.
	Title, Target string

	Inputs []Input
	// Products are what else is added to the scores.
	Products []Product
	// Offset is the column of a known term that is added to the score; empty without.
	Offset string
	// Intercepts are the scores of a row of Fills, and of levels that add nothing.
	Intercepts []float64
	// Texts and Numbers stand for missing values beside the empty text; Texts have the usual spellings, too.
	Texts, Usual []string
	Numbers      []float64
	// Reject says that a missing value is an error.
	Reject bool
	Link   string
	// Labels are those of classes, nil for numbers. Threshold is the score, for Logit and Softmax the probability of the
	// last label, above which this label is predicted; nil for a score above 0, and the largest probability.
	Labels    []string
	Threshold *float64
	// Outputs name the predictions and probabilities, as the header of conetune predict --out does.
	Outputs []string
}

// Input is a column that is used.
type Input struct {
	Name string
	// Kind is table.Number, table.Category or table.Date, whose numbers are days since 1970-01-01.
	Kind string
	// Fill stands in the place of a missing number, or where it is there the sum of Others, each with one weight, of
	// inputs whose own gaps have their Fill, and of Constant, of a date to the second.
	Fill, Constant float64
	Others         []Product
	// Weights multiply a number less Fill, one for each score: terms that cancel are small so. Gap are added where the
	// value is missing.
	Weights, Gap []float64
	// Levels are those of a category that add to scores; others add nothing.
	Levels []Level
	// Layout is that of dates, as in package time; Pattern is its regular expression, with a group for each of Fields.
	Layout, Pattern, Fields string
}

// Product is added to scores with its weights.
type Product struct {
	Factors []Factor
	Weights []float64
}

// Factor is 1 where input number Input has a Level, and 0 elsewhere; where that is nil a function of its number.
type Factor struct {
	Input    int
	Level    *Level
	Function table.Function
}

// Level is one of a category: texts that mean the same, or a number that may be written in several ways.
type Level struct {
	Texts    []string
	IsNumber bool
	Number   float64
	Weights  []float64
}

// New is the program of a model. A model that has none is an error.
func New(m *model.Model) (*Program, error) {
	if m.Matrix != nil {
		return nil, fmt.Errorf("%s predicts the entries of one matrix, and has no columns to be exported", m.Model)
	}
	m = m.Needed()
	e := m.Encoder()
	p := &Program{
		Title:  fmt.Sprintf("%s of %s, exported by %s", words.Joined(m.Predicted()), m.Model, m.Provenance.Program),
		Target: m.Predicted()[0], Offset: m.Offset, Intercepts: m.Intercepts, Texts: slices.Concat([]string{""}, e.Spellings),
		Usual: table.MissingSpellings(), Reject: e.Rule == table.Reject, Link: Identity, Threshold: m.Threshold,
	}
	if p.Intercepts == nil {
		p.Intercepts = []float64{m.Intercept}
	}
	for _, text := range e.Spellings {
		if v, n := textfile.Decimal([]byte(text)); n > 0 && n == len(text) {
			p.Numbers = append(p.Numbers, v)
		}
	}
	p.Intercepts = slices.Clone(p.Intercepts)
	q, at := len(p.Intercepts), 0
	for k, t := range e.Terms() {
		weights := m.Coefficients[at*q : (at+len(t.Features))*q]
		if at += len(t.Features); k < len(e.Columns) {
			p.column(e, k, q, weights)
		} else {
			p.Products = append(p.Products, p.sum(e, t.Columns, q, weights)...)
		}
	}
	for k, v := range p.Intercepts { // predictions at the fills
		at, row := model.Model{Intercept: v}, []float64(nil)
		for _, in := range p.Inputs {
			if in.Weights != nil {
				at.Coefficients, row = append(at.Coefficients, in.Weights[k]), append(row, in.Fill)
			}
		}
		v, err := at.Value(nil, row, 0)
		if err != nil {
			return nil, err
		}
		p.Intercepts[k] = v
	}
	for k := range e.Columns {
		if o := e.Columns[k].Others; o != nil {
			p.Inputs[k].Constant, p.Inputs[k].Others = o.Constant, p.others(e, o)
		}
	}
	p.outputs(m)
	return p, nil
}

// free is a name that no column has, in small letters or not.
func (p *Program) free(name string) string {
	taken := func(in Input) bool { return strings.EqualFold(in.Name, name) }
	for slices.ContainsFunc(p.Inputs, taken) || strings.EqualFold(p.Offset, name) {
		name += "_"
	}
	return name
}

// column adds a column with the weights of its features.
func (p *Program) column(e *table.Encoder, k, q int, weights []float64) {
	c := &e.Columns[k]
	in := Input{Name: c.Column, Kind: c.Kind, Fill: c.Fill, Gap: make([]float64, q), Weights: make([]float64, q)}
	if c.Missing {
		in.Gap = weights[len(weights)-q:]
	}
	if c.Kind == table.Date {
		in.Layout = c.Layout
		in.Pattern, in.Fields = datePattern(c.Layout)
	}
	switch elements, sums := c.Elements(); {
	case c.Kind == table.Category:
		in.Weights = nil
		for l, e := range elements {
			w := make([]float64, q)
			for j := range sums {
				floats.AddScaled(w, sums[j][l], weights[j*q:(j+1)*q])
			}
			if slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
				in.Levels = append(in.Levels, level(c, e.Level, w))
			}
		}
	case c.Basis == nil:
		in.Weights = weights[:q]
	default:
		p.Products = append(p.Products, p.sum(e, []int{k}, q, weights)...)
	}
	p.Inputs = append(p.Inputs, in)
}

// sum are the products of elements of columns that the products of their features are sums of, with the weights of
// these; what is constant goes to the intercepts.
func (p *Program) sum(encoder *table.Encoder, columns []int, q int, weights []float64) (list []Product) {
	known := map[string]int{} // of the elements
	var add func(c, feature int, key string, factors []Factor, times float64)
	add = func(c, feature int, key string, factors []Factor, times float64) {
		if c < len(columns) {
			of := &encoder.Columns[columns[c]]
			elements, sums := of.Elements()
			for j := range sums {
				for l, e := range elements {
					if sums[j][l] == 0 {
						continue
					}
					more, f := factors, Factor{Input: columns[c], Function: e.Function}
					if of.Kind == table.Category {
						one := level(of, e.Level, nil)
						f.Level = &one
					}
					if e.Function.Kind != table.Power || e.Function.Power > 0 {
						more = append(slices.Clip(factors), f)
					}
					add(c+1, feature*len(sums)+j, fmt.Sprintf("%s,%d", key, l), more, times*sums[j][l])
				}
			}
			return
		}
		w := weights[feature*q : (feature+1)*q]
		if len(factors) == 0 {
			floats.AddScaled(p.Intercepts, times, w)
			return
		}
		k, there := known[key]
		if !there {
			k = len(list)
			known[key], list = k, append(list, Product{factors, make([]float64, q)})
		}
		floats.AddScaled(list[k].Weights, times, w)
	}
	add(0, 0, "", nil, 1)
	return slices.DeleteFunc(list, func(p Product) bool {
		return !slices.ContainsFunc(p.Weights, func(v float64) bool { return v != 0 })
	})
}

// others are what stands in the place of a missing number, without its constant.
func (p *Program) others(e *table.Encoder, o *table.Sum) (list []Product) {
	of := map[string]float64{}
	for _, w := range o.Weights {
		of[w.Feature] = w.Weight
	}
	for k := range e.Columns {
		var weights []float64
		for _, name := range e.Columns[k].Features() {
			weights = append(weights, of[name])
		}
		own := Program{Intercepts: []float64{0}}
		list = append(list, own.sum(e, []int{k}, 1, weights)...)
		if v := own.Intercepts[0]; v != 0 { // what is constant
			list = append(list, Product{Weights: []float64{v}})
		}
	}
	return list
}

// level is a level of a category with its weights.
func level(c *table.Coding, text string, w []float64) Level {
	l := Level{Texts: table.SpellingsOf(text), Weights: w}
	// The two characters of a line end in quotes, which are two blanks, are one to some readers of CSV.
	if one := strings.ReplaceAll(text, "  ", " "); one != text && !slices.Contains(c.Levels, one) {
		l.Texts = append(l.Texts, one)
	}
	v, err := strconv.ParseFloat(text, 64)
	if l.IsNumber = err == nil && v == v && words.Exact(v) == text; l.IsNumber {
		l.Number = v
	}
	return l
}

// Clock says that dates have a time of day.
func (in Input) Clock() bool { return strings.ContainsAny(in.Fields, "HMS") }

// outputs sets the link, and what comes out.
func (p *Program) outputs(m *model.Model) {
	p.Outputs = []string{"prediction"}
	switch {
	case m.Labels != nil:
		p.Labels = m.LabelTexts()
		switch m.Loss.Kind {
		case model.Hinge:
			p.Link = Sign
			return
		case model.Multinomial:
			p.Link = Softmax
		default:
			p.Link = Logit
		}
		p.Outputs = append(p.Outputs, words.Prefixed("probability_", p.Labels)...)
	case m.LogLink:
		p.Link = Exp
	case m.Targets != nil:
		p.Outputs = words.Prefixed("prediction_", m.Targets)
	}
}

// dateParts are what layouts of dates consist of, with the letter of the field, in the order in which they are tried.
var dateParts = []struct{ layout, pattern, field string }{
	{"2006", `([0-9]{4})`, "Y"}, {"January", `([A-Za-z]{3})[A-Za-z]*`, "b"}, {"Jan", `([A-Za-z]{3})`, "b"},
	{"01", `([0-9]{2})`, "m"}, {"02", `([0-9]{2})`, "d"}, {"06", `([0-9]{2})`, "y"}, {"15", `([0-9]{1,2})`, "H"},
	{"04", `([0-9]{2})`, "M"}, {"05", `([0-9]{2}(?:[.,][0-9]+)?)`, "S"}, {"PM", `(AM|PM)`, "p"},
	{"Z07:00", `(Z|[-+][0-9]{2}:[0-9]{2})`, "z"}, {"-0700", `([-+][0-9]{4})`, "z"}, {"3", `([0-9]{1,2})`, "H"},
	{"1", `([0-9]{1,2})`, "m"}, {"2", `([0-9]{1,2})`, "d"}, {" ", ` +`, ""},
}

// datePattern is the regular expression of dates of a layout, which may begin with the day of the week (field w).
func datePattern(layout string) (pattern, fields string) {
	pattern, fields = `^(?:([A-Za-z]{3,9})[.]?,? +)?`, "w"
	for layout != "" {
		k := slices.IndexFunc(dateParts, func(p struct{ layout, pattern, field string }) bool {
			return strings.HasPrefix(layout, p.layout)
		})
		if k < 0 {
			pattern += regexp.QuoteMeta(layout[:1])
			layout = layout[1:]
			continue
		}
		pattern, fields = pattern+dateParts[k].pattern, fields+dateParts[k].field
		layout = layout[len(dateParts[k].layout):]
	}
	return pattern + "$", fields
}

// Patterns of numbers, for languages that read texts: a plain one, and one with signs of currency and percent, groups
// of thousands, other minus signs, or in parentheses, whose groups are the parenthesis, two signs, and the number.
var (
	plainPattern = `^[-+]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]+)?$`
	blanks       = "[ \\t\u00a0\u202f\u2009]*"
	groups       = "[,'’ \u00a0\u202f\u2009]"
	currency     = `(?:` + strings.ReplaceAll(regexp.QuoteMeta(strings.Join(table.Currencies(), " ")), " ", "|") + `)?` +
		blanks
	loosePattern = `^(\(?)` + blanks + `([-+−–]?)` + blanks + currency + `([-+]?)((?:[1-9][0-9]{0,2}|0[0-9]{1,2})(?:` +
		groups + `[0-9]{3})+(?:[.][0-9]*)?|(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]+)?)` + blanks + currency + `%?` +
		blanks + `\)?$`
)

// Options are what printers of single languages take.
type Options struct {
	// Table is the name of the table of SQL, Package that of the package of Go; empty for data and predictor.
	Table, Package string
}

// targets are the printers by the name of the language.
var targets = map[string]func(io.Writer, *Program, Options) error{
	"go": writeGo, "onnx": writeONNX, "pmml": writePMML, "python": writePython, "r": writeR, "sql": writeSQL,
}

// Targets are the names of the languages.
func Targets() []string { return []string{"python", "r", "sql", "pmml", "onnx", "go"} }

// Write writes a model in a language of [Targets]. The error is that it cannot be written in it, or not be written.
func Write(w io.Writer, m *model.Model, target string, o Options) error {
	write, known := targets[target]
	if !known {
		return fmt.Errorf("unknown language %q; known are: %s", target, words.Joined(Targets()))
	}
	p, err := New(m)
	if err != nil {
		return err
	}
	return write(w, p, o)
}
