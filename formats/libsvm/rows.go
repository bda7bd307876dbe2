package libsvm

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/conetune/conetune/formats/textfile"
)

// ReadSource reads from a source that stands at its first line. The error is a
// [*textfile.Error].
func ReadSource(s *textfile.Source, o Options) (*Matrix, error) {
	if o.Features < 0 || o.Features > math.MaxInt32 {
		return nil, s.Errorf(0, "", "cannot be read with %d features", o.Features)
	}
	m := &Matrix{RowStart: []int{0}}
	largest := 0
	for {
		line, err := s.Line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if start := bytes.IndexByte(line, '#'); start >= 0 {
			line = line[:start]
		}
		if line = textfile.Trim(line); len(line) == 0 {
			continue
		}
		last, err := m.row(s, line, o)
		if err != nil {
			return nil, err
		}
		if last > largest {
			largest, m.widest = last, s.LineNumber()
		}
	}
	if len(m.Labels) == 0 {
		return nil, s.Errorf(0, "", "is empty, expected lines of the form label index:value index:value ...")
	}
	m.Features = largest
	if o.Features > 0 {
		m.Features = o.Features
	}
	if m.Features == 0 {
		return nil, s.Errorf(0, "", "has labels and no features, expected lines of the form label index:value index:value ...")
	}
	return m, nil
}

// row appends one line and returns its largest index, counted from 1.
func (m *Matrix) row(s *textfile.Source, line []byte, o Options) (int, error) {
	text, rest := textfile.Word(line)
	label, reason := textfile.NumberUpTo(text, o.Largest)
	if reason != "" {
		if bytes.IndexByte(text, ':') >= 0 {
			reason = textfile.Quote(text) + " found, expected a number before the first index:value"
		}
		return 0, s.Errorf(s.LineNumber(), "label", "%s", reason)
	}
	start := len(m.Index)
	last, sorted := 0, true
	for position := 1; len(rest) > 0; position++ {
		text, rest = textfile.Word(rest)
		index, value, err := pair(text, o.Largest)
		if err == "" && index > o.Features && o.Features > 0 {
			err = fmt.Sprintf("index %d is larger than %d, the number of features (that of the training data)", index, o.Features)
		}
		if err != "" {
			return 0, s.Errorf(s.LineNumber(), fmt.Sprintf("pair %d", position), "%s", err)
		}
		sorted = sorted && index > last
		last = max(last, index)
		m.Index = append(textfile.Grow(s, m.Index, 1), int32(index-1))
		m.Value = append(textfile.Grow(s, m.Value, 1), value)
	}
	if !sorted {
		if twice := sortPairs(m.Index[start:], m.Value[start:]); twice > 0 {
			return 0, s.Errorf(s.LineNumber(), fmt.Sprintf("index %d", twice), "appears twice, expected each index once in a line")
		}
	}
	m.Labels = append(textfile.Grow(s, m.Labels, 1), label)
	m.RowStart = append(textfile.Grow(s, m.RowStart, 1), len(m.Index))
	return last, nil
}

// pair reads index:value. Where it cannot, reason says why.
func pair(text []byte, largest float64) (index int, value float64, reason string) {
	colon := bytes.IndexByte(text, ':')
	if colon < 0 {
		return 0, 0, textfile.Quote(text) + " found, expected index:value"
	}
	digits := text[:colon]
	if len(digits) == 0 {
		return 0, 0, textfile.Quote(text) + " found, expected an index before the colon"
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, 0, "index " + textfile.Quote(digits) + " found, expected a whole number from 1"
		}
		digit := int(c - '0')
		if index > math.MaxInt32/10 || 10*index > math.MaxInt32-digit { // an int may have 32 bits
			return 0, 0, fmt.Sprintf("index %s is larger than %d", textfile.Quote(digits), math.MaxInt32)
		}
		index = 10*index + digit
	}
	if index == 0 {
		return 0, 0, "index 0 found, expected indices from 1"
	}
	value, reason = textfile.NumberUpTo(text[colon+1:], largest)
	if reason != "" {
		reason = fmt.Sprintf("value of index %d: %s", index, reason)
	}
	return index, value, reason
}

// sortPairs sorts by index and returns an index, from 1, that is there twice, or 0.
func sortPairs(index []int32, value []float64) (twice int) {
	sort.Sort(&pairs{index, value})
	for k := 1; k < len(index); k++ {
		if index[k] == index[k-1] {
			return int(index[k]) + 1
		}
	}
	return 0
}

type pairs struct {
	index []int32
	value []float64
}

func (p *pairs) Len() int           { return len(p.index) }
func (p *pairs) Less(i, j int) bool { return p.index[i] < p.index[j] }
func (p *pairs) Swap(i, j int) {
	p.index[i], p.index[j] = p.index[j], p.index[i]
	p.value[i], p.value[j] = p.value[j], p.value[i]
}
