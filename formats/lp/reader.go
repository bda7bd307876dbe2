package lp

import (
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// sections are the words that begin one, in small letters, and what it is; those of programs that models of package qps
// cannot hold stand for themselves.
var sections = map[string]string{"minimize": "min", "minimise": "min", "minimum": "min", "min": "min",
	"maximize": "max", "maximise": "max", "maximum": "max", "max": "max", "subject to": "rows", "such that": "rows",
	"st": "rows", "s.t.": "rows", "st.": "rows", "bounds": "bounds", "bound": "bounds", "end": "end"}

func init() {
	for _, other := range strings.Fields("general generals gen integer integers int binary binaries bin " +
		"semi-continuous semi semis sos sos1 sos2 lazy user pwlobj") {
		sections[other] = other
	}
}

// lexeme is a number, an operator or a name.
var lexeme = regexp.MustCompile(`^(?:((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|([<>]=?|=[<>]?|[-+*^/:]|\[|\])|` +
	`([^-+*^:<>=\\\s\[\]]+))`)

// token is a name, n, a number, 1, the beginning of a section, s, or an operator, of which <= is < and >= is >.
type token struct {
	kind  byte
	text  string
	value float64
	line  int
}

// reader is the state of reading.
type reader struct {
	program.Lines
	m             *qps.Model
	tokens        []token
	columns, rows map[string]int
	a, p          program.Entries
}

// read reads from a source that stands at its first line.
func read(s *textfile.Source) (m *qps.Model, err error) {
	defer program.Catch(&err)
	r := &reader{Lines: program.Lines{Source: s}, m: &qps.Model{Q: []float64{}}, columns: map[string]int{},
		rows: map[string]int{}}
	for len(r.tokens) == 0 || r.tokens[len(r.tokens)-1] != (token{kind: 's', text: "end", line: s.LineNumber()}) {
		line, err := s.Line()
		if err == io.EOF {
			r.FailAt(s.LineNumber(), "", "the file ends without End")
		}
		r.Check(err)
		r.split(line)
	}
	m = r.m
	sense := r.take("s", "Minimize or Maximize").text
	if m.Maximize = sense == "max"; !m.Maximize && sense != "min" {
		r.FailAt(s.LineNumber(), sense, "expected Minimize or Maximize")
	}
	m.Objective = r.label()
	m.Constant = r.sum(true, func(j int, v float64) { m.Q[j] += v })
	for section := ""; section != "end"; {
		switch section = r.take("s", "a section").text; section {
		case "end", "rows", "bounds":
			for section != "end" && !r.is("s") {
				if section == "rows" {
					r.row()
				} else {
					r.bound()
				}
			}
		default:
			r.FailAt(s.LineNumber(), section, "this section is not read, or stands at another place")
		}
	}
	m.A = r.a.CSC(len(m.Rows), len(m.Columns))
	sums := slices.Concat(m.Q, m.A.RawMatrix().Data, []float64{m.Constant})
	if r.p.Len() > 0 {
		m.P = r.p.CSC(len(m.Columns), len(m.Columns))
		sums = append(sums, m.P.RawMatrix().Data...)
	}
	if slices.ContainsFunc(sums, func(v float64) bool { return !words.Finite(v) }) {
		r.FailAt(0, "", "repeated terms add up to what is no finite number")
	}
	return m, nil
}

// split takes a line apart.
func (r *reader) split(line []byte) {
	add := func(kind byte, text string, value float64) {
		r.tokens = append(textfile.Grow(r.Source, r.tokens, 1), token{kind, text, value, r.LineNumber()})
	}
	first, rest := textfile.Word(line)
	second, after := textfile.Word(rest)
	if what := sections[strings.ToLower(string(first)+" "+string(second))]; what != "" {
		add('s', what, 0)
		line = after
	} else if what := sections[strings.ToLower(string(first))]; what != "" {
		add('s', what, 0)
		line = rest
	}
	for {
		line = textfile.TrimLeft(line)
		at := lexeme.FindSubmatchIndex(line)
		if at == nil {
			if len(line) > 0 && line[0] != '\\' {
				r.FailAt(r.LineNumber(), textfile.Quote(line), "expected a number, a name or an operator")
			}
			return
		}
		text := string(line[:at[1]])
		line = line[at[1]:]
		switch {
		case at[2] >= 0:
			v, reason := program.Number([]byte(text))
			if reason != "" {
				r.FailAt(r.LineNumber(), text, "%s", reason)
			}
			add('1', text, v)
		case at[4] >= 0:
			add(text[len(strings.TrimLeft(text, "="))%len(text)], text, 0) // =< is <
		default:
			add('n', text, 0)
		}
	}
}

// is says whether the next token is of one of some kinds.
func (r *reader) is(kinds string) bool { return strings.IndexByte(kinds, r.tokens[0].kind) >= 0 }

// take takes a token of one of some kinds.
func (r *reader) take(kinds, expected string) token {
	t := r.tokens[0]
	if !r.is(kinds) {
		r.FailAt(t.line, textfile.Quote([]byte(t.text)), "expected %s", expected)
	}
	r.tokens = r.tokens[1:]
	return t
}

// label takes a name with a colon, if there is one.
func (r *reader) label() string {
	if !r.labels() {
		return ""
	}
	name := r.take("n", "").text
	r.take(":", "")
	return name
}

func (r *reader) labels() bool { return r.is("n") && r.tokens[1].kind == ':' }

// sign takes signs.
func (r *reader) sign() float64 {
	sign := 1.0
	for r.is("+-") {
		if r.take("+-", "").kind == '-' {
			sign = -sign
		}
	}
	return sign
}

// column takes a name, and returns its index.
func (r *reader) column() int {
	name := r.take("n", "a name").text
	j, ok := r.columns[name]
	if !ok {
		j = len(r.columns)
		r.columns[name] = j
		m := r.m
		m.Columns, m.Q = append(m.Columns, name), append(m.Q, 0)
		m.ColumnLower, m.ColumnUpper = append(m.ColumnLower, 0), append(m.ColumnUpper, math.Inf(1))
	}
	return j
}

// sum takes terms, in the objective quadratic ones too, and returns the constant.
func (r *reader) sum(objective bool, linear func(j int, v float64)) (constant float64) {
	for first := true; first || r.is("+-"); first = false {
		signed := r.is("+-")
		v := r.sign()
		number := r.is("1")
		if number {
			if v *= r.take("1", "").value; r.is("*") {
				r.take("*", "")
			}
		}
		switch {
		case r.is("n") && !r.labels():
			linear(r.column(), v)
		case number:
			constant += v
		case objective && r.is("["):
			r.quadratic(v)
		case signed:
			r.take("n", "a term")
		}
	}
	return constant
}

// quadratic takes [ terms ] / 2.
func (r *reader) quadratic(sign float64) {
	two := func() {
		if t := r.take("1", "2"); t.value != 2 {
			r.FailAt(t.line, t.text, "expected 2")
		}
	}
	for r.take("[", "["); !r.is("]"); {
		v := sign * r.sign()
		if r.is("1") {
			v *= r.take("1", "").value
		}
		i := r.column()
		j := i
		if r.take("*^", "* or ^").kind == '^' {
			two()
		} else if j = r.column(); i != j {
			v /= 2
		}
		r.p.Read(r.Source, min(i, j), max(i, j), v)
	}
	r.take("]", "]")
	r.take("/", "] / 2")
	two()
}

// infinite says that a word is one for infinity.
func (r *reader) infinite() bool {
	_, ok := program.IsInfinity([]byte(r.tokens[0].text))
	return ok && r.is("n")
}

// side takes a number with a sign.
func (r *reader) side() float64 {
	sign := r.sign()
	if r.infinite() {
		r.take("n", "")
		return sign * math.Inf(1)
	}
	v := r.take("1", "a number").value
	if v >= qps.Infinite {
		v = math.Inf(1)
	}
	return sign * v
}

// relation takes one.
func (r *reader) relation() byte { return r.take("<>=", "<=, >= or =").kind }

// restrict restricts a range by what is on its right or, flipped, on its left.
func restrict(lower, upper *float64, relation byte, flipped bool, v float64) {
	if relation == '=' || (relation == '>') != flipped {
		*lower = v
	}
	if relation == '=' || (relation == '<') != flipped {
		*upper = v
	}
}

// row takes a constraint.
func (r *reader) row() {
	m, i, line := r.m, len(r.m.Rows), r.tokens[0].line
	label := r.label()
	if label == "" {
		label = "r" + strconv.Itoa(i+1)
	}
	if _, twice := r.rows[label]; twice {
		r.FailAt(line, label, "the row is there twice")
	}
	r.rows[label] = i
	lower, upper, terms := math.Inf(-1), math.Inf(1), 0
	linear := func(j int, v float64) {
		r.a.Read(r.Source, i, j, v)
		terms++
	}
	left := r.sum(false, linear)
	by := r.relation()
	if terms > 0 {
		restrict(&lower, &upper, by, false, r.side())
	} else { // a number comes first
		restrict(&lower, &upper, by, true, left)
		if left = r.sum(false, linear); r.is("<>=") {
			restrict(&lower, &upper, r.relation(), false, r.side())
		}
	}
	lower, upper = lower-left, upper-left
	r.keeps(line, label, lower, upper)
	m.Rows, m.RowLower, m.RowUpper = append(m.Rows, label), append(m.RowLower, lower), append(m.RowUpper, upper)
}

// keeps ends the reading where a side is an infinity that no number keeps.
func (r *reader) keeps(line int, name string, lower, upper float64) {
	if !(lower < math.Inf(1) && upper > math.Inf(-1)) {
		r.FailAt(line, name, "the sides are %v and %v", lower, upper)
	}
}

// bound takes a bound.
func (r *reader) bound() {
	m, number, v, by := r.m, !r.is("n") || r.infinite(), 0.0, byte(0)
	if number {
		v, by = r.side(), r.relation()
	}
	line, j := r.tokens[0].line, r.column()
	lower, upper := &m.ColumnLower[j], &m.ColumnUpper[j]
	if number {
		restrict(lower, upper, by, true, v)
	}
	switch {
	case !number && r.is("n") && strings.EqualFold(r.tokens[0].text, "free"):
		r.take("n", "")
		*lower, *upper = math.Inf(-1), math.Inf(1)
	case !number || r.is("<>="):
		restrict(lower, upper, r.relation(), false, r.side())
	}
	r.keeps(line, m.Columns[j], *lower, *upper)
}
