package csvfile

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// Write writes the table to a file, gzipped when the path ends in .gz, the target
// as the first column. The numbers have 17 significant digits, so that reading
// gives back the same doubles. The file appears whole or not at all.
func Write(path string, t *Table) error {
	return textfile.Write(path, func(w io.Writer) error { return Encode(w, t) })
}

// Encode writes the table as [Write] does.
func Encode(w io.Writer, t *Table) error {
	n, p := t.X.Dims()
	if p > 0 && len(t.Features) != p {
		return fmt.Errorf("csvfile: %d feature names for %d columns", len(t.Features), p)
	}
	return EncodeRows(w, ByRows{N: n, Row: t.X.RawRowView, Y: t.Y, Features: t.Features[:min(p, len(t.Features))], Target: t.Target})
}

// ByRows is a table to write whose rows are given one by one.
type ByRows struct {
	// N is the number of rows. Row returns row i, with a number for each of Features; it is called once for each row, in their order,
	// and may return the same slice each time.
	N   int
	Row func(i int) []float64
	// Y, Features and Target are those of a [Table].
	Y        []float64
	Features []string
	Target   string
}

// EncodeRows writes the table as [Write] does.
func EncodeRows(w io.Writer, t ByRows) error {
	n := t.N
	switch {
	case len(t.Features) == 0:
		return fmt.Errorf("csvfile: no columns to write")
	case t.Y != nil && len(t.Y) != n:
		return fmt.Errorf("csvfile: %d targets for %d rows", len(t.Y), n)
	}
	var line []byte
	names := t.Features
	if t.Y != nil {
		names = append([]string{t.Target}, names...)
	}
	if column, reason := badNames(names); reason != "" {
		if column == 0 {
			return fmt.Errorf("csvfile: %s", reason)
		}
		return fmt.Errorf("csvfile: column %d %s", column, reason)
	}
	for j, name := range names {
		if strings.ContainsAny(name, "\r\n\x00") || string(textfile.Trim([]byte(name))) != name {
			return fmt.Errorf("csvfile: the name %q of column %d has a line end, or a blank at its start or end", name, j+1)
		}
		if j > 0 {
			line = append(line, ',')
		}
		line = appendName(line, name)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	for i := range n {
		line = line[:0]
		if t.Y != nil {
			var err error
			if line, err = appendNumber(line, t.Y[i], i); err != nil {
				return err
			}
			line = append(line, ',')
		}
		for j, v := range t.Row(i) {
			if j > 0 {
				line = append(line, ',')
			}
			var err error
			if line, err = appendNumber(line, v, i); err != nil {
				return err
			}
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func appendName(line []byte, name string) []byte {
	if !strings.ContainsAny(name, "\",") {
		return append(line, name...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(name, `"`, `""`)...)
	return append(line, '"')
}

func appendNumber(line []byte, v float64, row int) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("csvfile: row %d holds %g, expected finite numbers", row, v)
	}
	return strconv.AppendFloat(line, v, 'g', 17, 64), nil
}
