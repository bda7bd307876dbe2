package textfile

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// EncodeCSV writes a line of names, and n lines of numbers with 17 significant digits, so that reading gives back the
// same doubles. row is called once for each line, in their order, and may return the same slice each time.
func EncodeCSV(w io.Writer, names []string, n int, row func(i int) []float64) error {
	var line []byte
	for j, name := range names {
		if strings.ContainsAny(name, "\r\n\x00") || string(Trim([]byte(name))) != name {
			return fmt.Errorf("the name %q of column %d has a line end, or a blank at its start or end", name, j+1)
		}
		if j > 0 {
			line = append(line, ',')
		}
		if strings.ContainsAny(name, "\",") {
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		line = append(line, name...)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	for i := range n {
		line = line[:0]
		for j, v := range row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d holds %g, expected finite numbers", i, v)
			}
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', 17, 64)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
