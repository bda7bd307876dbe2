package export

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/table"
)

// writeSQL writes a SELECT of standard SQL, whose tables have numbers, texts, and dates as texts that begin with
// YYYY-MM-DD, perhaps with a time of day HH:MM:SS; NULL and empty texts are missing values. Where predict refuses a row
// it is NULL.
func writeSQL(w io.Writer, p *Program, o Options) error {
	name := cmp.Or(o.Table, "data")
	var columns, scores []string
	from, values := sqlName(name), p.sqlValues()
	if values != nil {
		from = fmt.Sprintf("(SELECT *,\n  %s\nFROM %s) AS filled", strings.Join(values, ",\n  "), from)
	}
	for k, intercept := range p.Intercepts {
		terms := []string{number(intercept)}
		for i, in := range p.Inputs {
			if in.Others != nil { // in the column of its values
				terms = append(terms, fmt.Sprintf("%s * (%s - %s)", number(in.Weights[k]), p.sqlValue(i), number(in.Fill)))
				in.Weights = make([]float64, len(in.Weights))
			}
			terms = append(terms, p.sqlTerm(in, k)...)
		}
		for _, product := range p.Products {
			if product.Weights[k] != 0 {
				terms = append(terms, p.sqlProduct(product, product.Weights[k], p.sqlValue))
			}
		}
		if p.Offset != "" {
			terms = append(terms, "CAST("+sqlName(p.Offset)+" AS DOUBLE PRECISION)")
		}
		scores = append(scores, p.free(fmt.Sprintf("score_%d", k+1)))
		columns = append(columns, sqlSum(terms)+" AS "+sqlName(scores[k]))
	}
	_, err := fmt.Fprintf(w, "-- %s.\n"+
		"-- Columns are numbers, texts and dates YYYY-MM-DD HH:MM:SS; NULL is a missing value.\n"+
		"SELECT *,\n  %s\nFROM (SELECT *,\n  %s\nFROM %s) AS scored;\n", strings.Map(printable, p.Title),
		strings.Join(p.sqlOutputs(scores), ",\n  "), strings.Join(columns, ",\n  "), from)
	return err
}

func sqlName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
func sqlText(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }

// sqlSum adds terms, in groups, since databases bound the depth of expressions.
func sqlSum(terms []string) string {
	const most = 50
	for len(terms) > most {
		var groups []string
		for from := 0; from < len(terms); from += most {
			groups = append(groups, "("+strings.Join(terms[from:min(from+most, len(terms))], " + ")+")")
		}
		terms = groups
	}
	return strings.Join(terms, "\n    + ")
}

// sqlTerm is what a column adds to score k; empty for nothing.
func (p *Program) sqlTerm(in Input, k int) (terms []string) {
	gone, missing := p.sqlGone(in), number(in.Gap[k])
	if p.Reject {
		missing = "NULL"
	}
	if in.Kind == table.Category {
		when := ""
		for _, l := range in.Levels {
			for _, text := range l.Texts {
				if l.Weights[k] != 0 {
					when += " WHEN " + sqlText(text) + " THEN " + number(l.Weights[k])
				}
			}
		}
		term := "0.0"
		if when != "" {
			term = "CASE " + sqlColumn(in.Name, in.Levels) + when + " ELSE 0.0 END"
		}
		if in.Gap[k] != 0 || p.Reject {
			term = "CASE WHEN " + gone + " THEN " + missing + " ELSE " + term + " END"
		}
		return []string{term}
	}
	if in.Weights[k] == 0 && in.Gap[k] == 0 && !p.Reject {
		return nil
	}
	return []string{fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s * (%s - %s) END", gone, missing, number(in.Weights[k]),
		sqlNumber(in), number(in.Fill))}
}

// sqlNumber is the number of a column.
func sqlNumber(in Input) string {
	if in.Kind == table.Date {
		return sqlDays(in)
	}
	return "CAST(" + sqlName(in.Name) + " AS DOUBLE PRECISION)"
}

// sqlValue is the column of the number of an input.
func (p *Program) sqlValue(k int) string { return sqlName(p.free(fmt.Sprintf("value_%d", k+1))) }

// sqlValues are the numbers of inputs that have a part in products, or whose gaps are filled by others; nil for none.
func (p *Program) sqlValues() (list []string) {
	filled := func(in Input) bool { return in.Others != nil }
	if p.Products == nil && !slices.ContainsFunc(p.Inputs, filled) {
		return nil
	}
	plain := func(k int) string {
		in, missing := p.Inputs[k], "NULL"
		if !p.Reject {
			missing = number(in.Fill)
		}
		return fmt.Sprintf("(CASE WHEN %s THEN %s ELSE %s END)", p.sqlGone(in), missing, sqlNumber(in))
	}
	for k, in := range p.Inputs {
		if in.Kind == table.Category {
			continue
		}
		value := plain(k)
		if in.Others != nil {
			terms := []string{number(in.Constant)}
			for _, o := range in.Others {
				terms = append(terms, p.sqlProduct(o, o.Weights[0], plain))
			}
			sum := sqlSum(terms)
			if in.Kind == table.Date {
				sum = "FLOOR(86400.0 * (" + sum + ") + 0.5) / 86400.0"
			}
			value = fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", p.sqlGone(in), sum, value)
		}
		list = append(list, value+" AS "+p.sqlValue(k))
	}
	return list
}

// sqlProduct is a weight times factors, functions of the values of inputs.
func (p *Program) sqlProduct(product Product, weight float64, value func(k int) string) string {
	text := number(weight)
	for _, f := range product.Factors {
		if f.Level != nil {
			text += fmt.Sprintf(" * CASE WHEN %s IN (%s) THEN 1.0 ELSE 0.0 END", sqlColumn(p.Inputs[f.Input].Name,
				[]Level{*f.Level}), each(f.Level.Texts, sqlText))
			continue
		}
		x, at, scale := value(f.Input), number(f.Function.At), number(f.Function.Scale)
		switch u := fmt.Sprintf("((%s - %s) / %s)", x, at, scale); f.Function.Kind {
		case table.Sine, table.Cosine:
			text += fmt.Sprintf(" * %s(%s * (%s / %s - FLOOR(%s / %s)))", map[string]string{table.Sine: "SIN",
				table.Cosine: "COS"}[f.Function.Kind], number(2*math.Pi), x, scale, x, scale)
		case table.Weekday:
			text += fmt.Sprintf(" * CASE WHEN FLOOR(%s) + 3 - 7 * FLOOR((FLOOR(%s) + 3) / 7.0) = %s THEN 1.0 ELSE 0.0 END", x, x,
				at)
		case table.Ramp:
			if l := f.Function.Limit; l > 0 {
				u = fmt.Sprintf("CASE WHEN %s > %s THEN %s ELSE %s END", u, number(l), number(l), u)
			}
			ramp := fmt.Sprintf("CASE WHEN %s > %s THEN %s ELSE 0.0 END", x, at, u)
			text += strings.Repeat(" * ("+ramp+")", f.Function.Power)
		default:
			text += strings.Repeat(" * "+u, f.Function.Power)
		}
	}
	return text
}

// sqlColumn is the text of a category, with blanks for line ends where a level has some.
func sqlColumn(column string, levels []Level) string {
	name := sqlName(column)
	if slices.ContainsFunc(levels, func(l Level) bool { return strings.Contains(strings.Join(l.Texts, ""), " ") }) {
		return "REPLACE(REPLACE(" + name + ", '\r', ' '), '\n', ' ')"
	}
	return name
}

// sqlGone says that a column is missing.
func (p *Program) sqlGone(in Input) string {
	gone := sqlName(in.Name) + " IS NULL"
	among := func(list string) string { return fmt.Sprintf("(%s OR %s IN (%s))", gone, sqlName(in.Name), list) }
	switch {
	case in.Kind == table.Category:
		return among(each(slices.Concat(p.Texts, p.Usual), sqlText))
	case in.Kind == table.Date:
		return among(each(p.Texts, sqlText))
	case p.Numbers != nil:
		return among(each(p.Numbers, number))
	}
	return gone
}

// sqlDays are the days since 1970-01-01 of a text YYYY-MM-DD, by whole numbers, as the calendar goes from March to
// February, with HH:MM:SS where the layout has a time of day.
func sqlDays(in Input) string {
	name := sqlName(in.Name)
	part := func(from, n int) string { return fmt.Sprintf("CAST(SUBSTR(%s, %d, %d) AS INTEGER)", name, from, n) }
	y, m, d := part(1, 4), part(6, 2), part(9, 2)
	march := fmt.Sprintf("(%s - CASE WHEN %s <= 2 THEN 1 ELSE 0 END)", y, m)
	month := fmt.Sprintf("(%s + CASE WHEN %s <= 2 THEN 9 ELSE -3 END)", m, m)
	days := fmt.Sprintf("365 * %s + %s / 4 - %s / 100 + %s / 400 + (153 * %s + 2) / 5 + %s - 719469", march, march, march,
		march, month, d)
	if !in.Clock() {
		return "(" + days + ")"
	}
	return fmt.Sprintf("(%s + (3600 * %s + 60 * %s + %s) / 86400.0)", days, part(12, 2), part(15, 2), part(18, 2))
}

// sqlOutputs are the predictions and probabilities of the scores.
func (p *Program) sqlOutputs(scores []string) (list []string) {
	as := func(expression string, k int) { list = append(list, expression+" AS "+sqlName(p.free(p.Outputs[k]))) }
	var chances []string
	switch p.Link {
	case Identity:
		for k := range scores {
			as(scores[k], k)
		}
		return list
	case Exp:
		as("EXP("+scores[0]+")", 0)
		return list
	case Logit:
		chances = []string{"1.0 / (1.0 + EXP(" + scores[0] + "))", "1.0 / (1.0 + EXP(-" + scores[0] + "))"}
	case Softmax:
		for _, one := range scores {
			var odds []string
			for _, other := range scores {
				odds = append(odds, "EXP("+other+" - "+one+")")
			}
			chances = append(chances, "1.0 / ("+strings.Join(odds, " + ")+")")
		}
	}
	label, last := "CASE WHEN "+scores[0]+" IS NULL THEN NULL", len(p.Labels)-1
	then := func(condition string, k int) { label += "\n    WHEN " + condition + " THEN " + sqlText(p.Labels[k]) }
	switch {
	case p.Threshold != nil && p.Link != Sign:
		then(chances[last]+" > "+number(*p.Threshold), last)
		last--
	case p.Link == Sign && p.Threshold != nil:
		then(scores[0]+" > "+number(*p.Threshold), 1)
		last--
	case p.Link != Softmax:
		then(scores[0]+" > 0.0", 1)
		last--
	}
	for k := range last {
		var largest []string
		for j := k + 1; j <= last; j++ {
			largest = append(largest, scores[k]+" >= "+scores[j])
		}
		then(strings.Join(largest, " AND "), k)
	}
	as(label+"\n    ELSE "+sqlText(p.Labels[last])+" END", 0)
	for k, chance := range chances {
		as(chance, k+1)
	}
	return list
}
