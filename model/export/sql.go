package export

import (
	"cmp"
	"fmt"
	"io"
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
	for k, intercept := range p.Intercepts {
		terms := []string{number(intercept)}
		for _, in := range p.Inputs {
			terms = append(terms, p.sqlTerm(in, k)...)
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
		strings.Join(p.sqlOutputs(scores), ",\n  "), strings.Join(columns, ",\n  "), sqlName(name))
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
	name := sqlName(in.Name)
	gone, missing := name+" IS NULL", number(in.Gap[k])
	switch {
	case in.Kind == table.Category:
		gone = fmt.Sprintf("(%s OR %s IN (%s))", gone, name, each(slices.Concat(p.Texts, p.Usual), sqlText))
	case in.Kind == table.Date:
		gone = fmt.Sprintf("(%s OR %s IN (%s))", gone, name, each(p.Texts, sqlText))
	case p.Numbers != nil:
		gone = fmt.Sprintf("(%s OR %s IN (%s))", gone, name, each(p.Numbers, number))
	}
	if p.Reject {
		missing = "NULL"
	}
	if in.Kind == table.Category {
		when, blank := "", false
		for _, l := range in.Levels {
			for _, text := range l.Texts {
				if blank = blank || strings.Contains(text, " "); l.Weights[k] != 0 {
					when += " WHEN " + sqlText(text) + " THEN " + number(l.Weights[k])
				}
			}
		}
		text := name
		if blank { // which a line end is read as
			text = "REPLACE(REPLACE(" + name + ", '\r', ' '), '\n', ' ')"
		}
		term := "0.0"
		if when != "" {
			term = "CASE " + text + when + " ELSE 0.0 END"
		}
		if in.Gap[k] != 0 || p.Reject {
			term = "CASE WHEN " + gone + " THEN " + missing + " ELSE " + term + " END"
		}
		return []string{term}
	}
	value := "CAST(" + name + " AS DOUBLE PRECISION)"
	if in.Kind == table.Date {
		value = sqlDays(in)
	}
	if in.Weights[k] == 0 && in.Gap[k] == 0 && !p.Reject {
		return nil
	}
	if !p.Reject {
		missing = number(in.Fill*in.Weights[k] + in.Gap[k])
	}
	return []string{fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s * %s END", gone, missing, number(in.Weights[k]), value)}
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
