package export

import (
	_ "embed"
	"io"
	"strconv"
	"strings"
	"text/template"

	"github.com/conetune/conetune/internal/words"
)

// What the templates of languages with strings and lists of their own have in common.

// quoted is a text in quotes, in ASCII, as Python, R and Go read it.
func quoted(text string) string {
	same := strings.NewReplacer(`\a`, `\u0007`, `\v`, `\u000b`, `\x`, `\u00`, `\\`, `\\`)
	return same.Replace(strconv.QuoteToASCII(text))
}

// number is one as all languages read it, with a point or an exponent.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".eIN") {
		text += ".0"
	}
	return text
}

// each are the items of a list, with a separator.
func each[T any](list []T, write func(T) string) string {
	return words.Joined(words.Each(list, write))
}

// texts are levels of a category that are texts, each spelling one, and numbers those that are numbers.
func (in Input) texts() (list []Level) {
	for _, l := range in.Levels {
		for _, text := range l.Texts {
			if !l.IsNumber {
				list = append(list, Level{Texts: []string{text}, Weights: l.Weights})
			}
		}
	}
	return list
}

func (in Input) numbers() (list []Level) {
	for _, l := range in.Levels {
		if l.IsNumber {
			list = append(list, l)
		}
	}
	return list
}

var functions = template.FuncMap{
	"quoted": quoted, "number": number, "title": func(text string) string { return strings.Map(printable, text) },
	"quotedList": func(list []string) string { return each(list, quoted) },
	"numberList": func(list []float64) string { return each(list, number) },
	"texts":      Input.texts, "numbers": Input.numbers,
	"plain": func() string { return plainPattern }, "loose": func() string { return loosePattern },
	"groups": func() string { return groups },
}

// printable keeps a text on a line of a comment.
func printable(c rune) rune {
	if c < ' ' || c == '"' || c == '\\' || c == 0x7f || c >= 0x2028 && c <= 0x202e {
		return ' '
	}
	return c
}

//go:embed python.tmpl
var pythonText string

//go:embed r.tmpl
var rText string

//go:embed go.tmpl
var goText string

func printer(name, text string) func(io.Writer, *Program, Options) error {
	t := template.Must(template.New(name).Funcs(functions).Parse(text))
	return func(w io.Writer, p *Program, o Options) error {
		return t.Execute(w, struct {
			*Program
			Options
		}{p, o})
	}
}

var (
	writePython = printer("python", pythonText)
	writeR      = printer("r", rText)
)
