package textfile

import (
	"io"
	"slices"
	"strings"
)

// Columns goes through the lines of a small CSV file whose first line names its columns, and which is no table of
// numbers.
type Columns struct {
	// Names are those of the first line.
	Names []string

	source *Source
	fields [][]byte
}

// NewColumns reads the names, among which those that are wanted must be, in words: expected says so in messages. Other
// columns are passed over.
func NewColumns(s *Source, expected string, wanted ...string) (*Columns, error) {
	c := &Columns{source: s}
	fields, err := c.line()
	if err == io.EOF {
		return nil, s.Errorf(0, "", "is empty, expected the columns %s", expected)
	} else if err != nil {
		return nil, err
	}
	for _, name := range fields {
		c.Names = append(c.Names, string(name))
	}
	for _, name := range wanted {
		if c.Index(name) < 0 {
			return nil, s.Errorf(s.LineNumber(), "", "has the columns %s, expected %s", Show(strings.Join(c.Names, ", ")),
				expected)
		}
	}
	return c, nil
}

// Index is the place of a column, -1 where there is none of the name.
func (c *Columns) Index(name string) int { return slices.Index(c.Names, name) }

// Next returns the fields of the next line that is not blank, one for each name, without the blanks and quotes around
// them, or [io.EOF] after the last one. They are valid until the next call.
func (c *Columns) Next() ([][]byte, error) {
	fields, err := c.line()
	if err == nil && len(fields) != len(c.Names) {
		err = c.source.Errorf(c.source.LineNumber(), "", "has %d fields, expected %d, one for each column name", len(fields),
			len(c.Names))
	}
	return fields, err
}

// line returns the fields of the next line.
func (c *Columns) line() ([][]byte, error) {
	for {
		text, err := c.source.Line()
		if err != nil {
			return nil, err
		}
		if IsBlank(text) {
			continue
		}
		c.fields = c.fields[:0]
		for f := (Fields{Rest: text, Separator: ','}); f.Next(); {
			if f.Open {
				return nil, c.source.Errorf(c.source.LineNumber(), "", "is not CSV: the quote is not closed on its line")
			}
			c.fields = append(c.fields, f.Text)
		}
		return c.fields, nil
	}
}
