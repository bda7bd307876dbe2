package table

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/conetune/conetune/internal/textfile"
)

const (
	// mostTexts bounds the dictionary of a column.
	mostTexts = 1 << 20
	// mostLocal bounds that of a goroutine.
	mostLocal = 1 << 12
	// textBytes is what a text takes beside its bytes.
	textBytes = 64
	// endOfFile is the control character at the end of files of DOS.
	endOfFile = 0x1a
)

// reader is what is read so far.
type reader struct {
	meanings
	source *textfile.Source
	width  int
	latin  bool // texts are not UTF-8, as the user says
	latins int  // texts that were not UTF-8
	ragged ragged

	comments int // lines after the names

	parts *parts // of a table that is read in parts
}

// ragged are lines with another number of cells, and that of the first one.
type ragged struct {
	FoundColumn
	cells int
}

// quoteError says that a quote does not end on its line.
type quoteError struct{ line int }

func (e *quoteError) Error() string { return "a quote does not end on its line" }

// dictionary are the texts of a column that a goroutine has seen, with their cells in the whole table, 0 where these
// are not known yet.
type dictionary struct {
	codes  map[string]uint32
	texts  []string
	global []float64
}

// part are the rows of a block. Its texts are those of its dictionaries until it is merged.
type part struct {
	x      []float64
	lines  []int32
	texts  []int // cells of x that are texts
	words  []dictionary
	of     int // the part of the table that the cells of words are of
	ragged ragged

	end      int // of the line, once a cell has asked for it
	comments int
	room     []byte
	verbatim map[int]bool
}

// read replaces the rows by those of a block.
func (p *part) read(r *reader, b *textfile.Block) error {
	p.x, p.lines, p.texts, p.ragged, p.comments = p.x[:0], p.lines[:0], p.texts[:0], ragged{}, 0
	if p.words == nil {
		p.words, p.verbatim = make([]dictionary, r.width), r.verbatim
	}
	for j := range p.words {
		if len(p.words[j].texts) >= mostLocal {
			p.words[j] = dictionary{}
		}
	}
	if zero := bytes.IndexByte(b.Text, 0); zero >= 0 { // which no text has
		before := b.Text[:zero]
		_, _, err := b.TextLine(bytes.LastIndexByte(before, '\n')+1, b.Line+bytes.Count(before, []byte{'\n'}))
		return err
	}
	d := &r.table.dialect
	for at, number := 0, b.Line; at < len(b.Text); number++ {
		if first := b.Text[at]; first <= ' ' || first == d.Comment || first >= utf8.RuneSelf {
			line, next, err := b.TextLine(at, number)
			if err != nil {
				return err
			}
			if text := textfile.TrimLeft(line); len(text) == 0 || d.comments(text, string(d.Separator)) {
				if len(text) > 0 {
					p.comments++
				}
				at = next
				continue
			}
		}
		p.x = slices.Grow(p.x, r.width)
		before := len(p.texts)
		row := p.x[len(p.x) : len(p.x)+r.width]
		next, ok := p.line(d, b.Text, at, row)
		if !ok {
			p.texts = p.texts[:before]
			line, end, err := b.TextLine(at, number)
			if err != nil {
				return err
			}
			if err := p.count(d, line, number); err != nil {
				return err
			}
			at = end
			continue
		}
		p.x, p.lines, at = p.x[:len(p.x)+r.width], append(p.lines, int32(number)), next
	}
	return nil
}

// count notes a line with another number of cells, unless it is an open quote that makes it one.
func (p *part) count(d *dialect, line []byte, number int) error {
	f := textfile.Fields{Rest: line, Separator: d.Separator}
	n := 0
	for f.Next() {
		n++
	}
	if f.Open {
		return &quoteError{number}
	}
	if p.ragged.Count == 0 {
		p.ragged.cells = n
	}
	p.ragged.add(number)
	return nil
}

// line reads the cells of a line into a row and returns where the next line starts; false means that it has another
// number of cells, or a quote that does not end.
func (p *part) line(d *dialect, text []byte, at int, row []float64) (next int, ok bool) {
	i, last := at, len(row)-1
	p.end = -1
	plain := len(p.verbatim) == 0 && d.Separator != ' '
	point := plain && d.Decimal == '.'
	clear(row)
	for j := 0; j <= last; j++ {
		end := d.Separator
		if j == last {
			end = '\n' // which ends every block
		}
		if plain {
			if digit := text[i] - '0'; digit <= 9 && text[i+1] == end {
				row[j] = float64(digit)
				i += 2
				continue
			}
		}
		if point {
			if v, n := textfile.Decimal(text[i:]); n > 0 {
				k := i + n
				if text[k] == '\r' && j == last {
					k++
				}
				if text[k] == end && math.Abs(v) <= textfile.LargestEntry {
					row[j], i = v, k+1
					continue
				}
			}
		}
		i, ok = p.cell(d, text, i, j, j == last, &row[j])
		if !ok {
			return 0, false
		}
	}
	return i, true
}

// cell reads any cell, from i on, and returns where the next one starts, that of the next line after the last one.
func (p *part) cell(d *dialect, text []byte, i, j int, last bool, to *float64) (next int, ok bool) {
	if p.end < i {
		p.end = i + bytes.IndexByte(text[i:], '\n')
	}
	f := textfile.Fields{Rest: text[i:p.end], Separator: d.Separator}
	if !f.Next() || f.Open || f.Done != last {
		return 0, false
	}
	*to = p.value(d, f.Text, j)
	if last {
		return p.end + 1, true
	}
	return p.end - len(f.Rest), true
}

// value is the cell of a text.
func (p *part) value(d *dialect, content []byte, j int) float64 {
	if len(content) > 0 && content[len(content)-1] == endOfFile {
		content = textfile.TrimRight(content[:len(content)-1])
	}
	if len(content) == 0 {
		return missingCell
	}
	if p.verbatim[j] {
		return p.word(content, j)
	}
	number := content
	if d.Decimal == ',' && bytes.IndexByte(content, ',') >= 0 && bytes.IndexByte(content, '.') < 0 {
		p.room = append(p.room[:0], content...)
		p.room[bytes.IndexByte(p.room, ',')] = '.'
		number = p.room
	}
	if d.Decimal == '.' || bytes.IndexByte(content, '.') < 0 {
		if v, n := textfile.Decimal(number); n == len(number) && math.Abs(v) <= textfile.LargestEntry {
			return v
		}
	}
	if len(content) < 16 && missingTexts[string(content)] {
		return missingCell
	}
	return p.word(content, j)
}

// word is the cell of a text that is neither a number nor missing.
func (p *part) word(content []byte, j int) float64 {
	w := &p.words[j]
	code, known := w.codes[string(content)]
	if !known {
		if w.codes == nil {
			w.codes = map[string]uint32{}
		}
		code = uint32(len(w.texts))
		word := string(content)
		w.codes[word] = code
		w.texts, w.global = append(w.texts, word), append(w.global, 0)
	}
	p.texts = append(p.texts, len(p.x)+j)
	return textCell(code)
}

// merge appends the rows of a block to the table.
func (r *reader) merge(p *part) error {
	t := r.table
	r.comments += p.comments
	if r.ragged.Count == 0 {
		r.ragged = p.ragged
	} else {
		p.ragged.follow(r.ragged.FoundColumn)
		r.ragged.FoundColumn = p.ragged.FoundColumn
	}
	if r.parts != nil && p.of != r.parts.number {
		p.of = r.parts.number
		for j := range p.words {
			clear(p.words[j].global)
		}
	}
	for _, at := range p.texts {
		j := at % r.width
		w := &p.words[j]
		code, _ := textCode(p.x[at])
		if w.global[code] == 0 {
			w.global[code] = r.word(j, w.texts[code])
		}
		p.x[at] = w.global[code]
	}
	if len(p.lines) == 0 {
		return nil
	}
	r.take(r.addRows(p.x, p.lines))
	if r.parts.full(t) && r.ragged.Count == 0 {
		return r.hand()
	}
	return nil
}

// word is the cell of a text, which may be in another encoding.
func (r *reader) word(j int, text string) float64 {
	if r.latin || !utf8.ValidString(text) {
		text = string(textfile.Trim([]byte(decodeLatin1([]byte(text)))))
		r.latins++
	}
	return r.text(j, text, r.take)
}
