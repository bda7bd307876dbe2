package xlsx

import (
	"bufio"
	"bytes"
	"errors"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/conetune/conetune/table"
)

// part is one of the workbook, tag after tag. What it has holds until the next one. Whether elements are nested as XML
// asks is not looked at: the checksum of the archive says whether a part is as it was written.
type part struct {
	*bufio.Scanner
	at           int         // where the tag is in the bytes of the scanner
	before       []byte      // the text before the tag
	name         []byte      // of its element, without a prefix
	starts, ends bool        // both where the element is empty
	attributes   [][2][]byte // names without prefixes, and values as they are written
}

// mostText bounds a tag with the text before it, and a text in several parts.
const mostText = 4 << 20

var errLong = errors.New("a cell is longer than any that Excel writes")

// next reads a tag; false is the end of the part.
func (p *part) next() bool {
	if !p.Scan() {
		if p.Err() == bufio.ErrTooLong {
			panic(errLong)
		}
		table.Check(p.Err())
		return false
	}
	token := p.Bytes()
	before, tag := token[:p.at], token[p.at+1:len(token)-1]
	if verbatim, found := bytes.CutPrefix(tag, []byte("![CDATA[")); found {
		verbatim = bytes.TrimSuffix(verbatim, []byte("]]"))
		before = append(bytes.Clone(before), html.EscapeString(string(verbatim))...)
	}
	tag, end := bytes.CutPrefix(tag, []byte("/"))
	tag, empty := bytes.CutSuffix(tag, []byte("/"))
	k := 0
	for k < len(tag) && tag[k] > ' ' {
		k++
	}
	p.before, p.name, p.starts, p.ends = before, local(tag[:k]), !end, end || empty
	p.attributes = p.attributes[:0]
	for rest := tag[k:]; ; {
		name, after, found := bytes.Cut(rest, []byte("="))
		after = bytes.TrimSpace(after)
		if !found || len(after) == 0 {
			return true
		}
		after, rest, _ = bytes.Cut(after[1:], after[:1]) // at its quote
		p.attributes = append(p.attributes, [2][]byte{local(bytes.TrimSpace(name)), after})
	}
}

func local(name []byte) []byte { return name[bytes.IndexByte(name, ':')+1:] }

// attribute is the value of the first one of that name.
func (p *part) attribute(name string) []byte {
	for _, a := range p.attributes {
		if string(a[0]) == name {
			return plain(a[1])
		}
	}
	return nil
}

// plain is a text without references such as &amp; of which XML has five of those of HTML.
func plain(text []byte) []byte {
	if !utf8.Valid(text) {
		panic(errors.New("a text is not in UTF-8"))
	}
	if bytes.IndexByte(text, '&') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return []byte(html.UnescapeString(strings.ReplaceAll(string(text), "\r\n", "\n")))
}

// toTag cuts a part after each tag, for [bufio.Scanner].
func (p *part) toTag(data []byte, _ bool) (int, []byte, error) {
	if p.at = bytes.IndexByte(data, '<'); p.at < 0 {
		return 0, nil, nil
	}
	last, quote := "", byte(0)
	if tag := data[p.at:]; bytes.HasPrefix(tag, []byte("<!--")) {
		last = "--"
	} else if bytes.HasPrefix(tag, []byte("<![CDATA[")) {
		last = "]]"
	}
	for k := p.at; k < len(data); k++ {
		switch c := data[k]; {
		case c == '>' && quote == 0 && (last == "" || bytes.HasSuffix(data[:k], []byte(last))):
			return k + 1, data[:k+1], nil
		case last != "":
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return 0, nil, nil
}

// content is the text of an element, as its tags give it. How a word is pronounced is left out.
type content struct {
	text           []byte
	inText, spoken bool
	formula        bool // of the cell
}

// read takes the text before a tag, and what the tag says of the next one.
func (c *content) read(p *part) {
	if c.inText && !c.spoken {
		if c.text = append(c.text, plain(p.before)...); len(c.text) > mostText {
			panic(errLong)
		}
	}
	switch string(p.name) {
	case "v", "t":
		c.inText = !p.ends
	case "f":
		c.formula = true
	case "rPh":
		c.spoken = !p.ends
	}
}
