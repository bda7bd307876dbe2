package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is what a JSON value is, in the words of a message.
type kind string

const (
	anObject kind = "object"
	anArray  kind = "array"
	aString  kind = "string"
	aNumber  kind = "number"
	aBool    kind = "bool"
	aNull    kind = "null"
)

// value is a JSON value with the line on which it begins, or for a number or a text ends.
type value struct {
	kind kind
	line int
	// text is that of a string or number; of a bool it is true or false.
	text string
	// names are those of an object's fields, in the order of the file, and items their values or those of an array.
	names []string
	items []*value
}

// field returns the value of a field, nil where there is none.
func (v *value) field(name string) *value {
	if i := slices.Index(v.names, name); i >= 0 {
		return v.items[i]
	}
	return nil
}

// lineError is an error with the line that it is about.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

func lineErrorf(line int, format string, args ...any) error {
	return &lineError{line, fmt.Errorf(format, args...)}
}

// mostDepth bounds how deep values stand in each other; that of a model is 4.
const mostDepth = 16

// parser reads a valid document token by token and counts lines.
type parser struct {
	text []byte
	at   int
	line int
	room []value // of values to come
}

// parse reads a document. A field that is there twice is an error: readers differ in which of the two they take.
func parse(text []byte) (*value, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		line := 1
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line += bytes.Count(text[:min(syntax.Offset, int64(len(text)))], []byte("\n"))
		}
		return nil, &lineError{line, err}
	}
	return parseValid(text)
}

// parseValid is parse of a text that is known to be JSON.
func parseValid(text []byte) (*value, error) {
	p := &parser{text: text, line: 1}
	return p.value(0)
}

// next goes to the next token, over blanks and over the commas and colons between tokens, and returns its first byte.
func (p *parser) next() byte {
	for ; ; p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', ',', ':':
		case '\n':
			p.line++
		default:
			return c
		}
	}
}

// word is the number or the name of a constant that begins here.
func (p *parser) word() string {
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n', ',', ']', '}':
			return string(p.text[start:p.at])
		}
	}
	return string(p.text[start:])
}

// string is the text in quotes that begins here.
func (p *parser) string() (string, error) {
	start := p.at
	plain := true
	for p.at++; p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			plain = false
			p.at++
		}
	}
	p.at++
	if inside := p.text[start+1 : p.at-1]; plain && utf8.Valid(inside) {
		return string(inside), nil
	}
	var s string
	err := json.Unmarshal(p.text[start:p.at], &s)
	return s, err
}

// roomFor is how many values are allocated at once.
const roomFor = 64

func (p *parser) value(depth int) (v *value, err error) {
	if len(p.room) == 0 {
		p.room = make([]value, roomFor)
	}
	v, p.room = &p.room[0], p.room[1:]
	c := p.next()
	v.line = p.line
	switch c {
	case '"':
		v.kind = aString
		v.text, err = p.string()
	case 't', 'f':
		v.kind, v.text = aBool, p.word()
	case 'n':
		v.kind = aNull
		p.word()
	case '{', '[':
		if depth == mostDepth {
			return nil, lineErrorf(p.line, "values stand in each other more than %d deep", mostDepth)
		}
		if v.kind = anArray; c == '{' {
			v.kind = anObject
		}
		err = p.inside(v, depth)
	default:
		v.kind, v.text = aNumber, p.word()
	}
	return v, err
}

// inside reads what stands between the brackets of an object or array.
func (p *parser) inside(v *value, depth int) error {
	seen := map[string]int{}
	p.at++
	for c := p.next(); c != '}' && c != ']'; c = p.next() {
		if v.kind == anObject {
			name, err := p.string()
			if err != nil {
				return err
			}
			if line, twice := seen[name]; twice {
				return lineErrorf(p.line, "field %q is there twice, first on line %d", name, line)
			}
			seen[name] = p.line
			v.names = append(v.names, name)
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	p.at++
	return nil
}

// canonical appends the one text that all documents of this content have: no blanks, fields in the order of their
// names, numbers with the least digits that give them back.
func (v *value) canonical(out []byte) ([]byte, error) {
	var err error
	switch v.kind {
	case anObject:
		order := make([]int, len(v.names))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return bytes.Compare([]byte(v.names[a]), []byte(v.names[b])) })
		out = append(out, '{')
		for k, i := range order {
			if k > 0 {
				out = append(out, ',')
			}
			if out, err = (&value{kind: aString, text: v.names[i]}).canonical(out); err != nil {
				return nil, err
			}
			out = append(out, ':')
			if out, err = v.items[i].canonical(out); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case anArray:
		out = append(out, '[')
		for i, item := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = item.canonical(out); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case aString:
		return strconv.AppendQuote(out, v.text), nil
	case aNumber:
		if !strings.ContainsAny(v.text, ".eE") { // an error of ParseInt takes memory
			if n, err := strconv.ParseInt(v.text, 10, 64); err == nil && v.text != "-0" {
				return strconv.AppendInt(out, n, 10), nil
			}
		}
		x, err := v.float()
		if err != nil {
			return nil, err
		}
		return strconv.AppendFloat(out, x, 'f', -1, 64), nil
	case aNull:
		return append(out, "null"...), nil
	}
	return append(out, v.text...), nil
}

// float is the value of a number.
func (v *value) float() (float64, error) {
	x, err := strconv.ParseFloat(v.text, 64)
	if err != nil {
		return 0, lineErrorf(v.line, "the number %s is out of range", v.text)
	}
	return x, nil
}
