package textfile

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// EncodeCSV writes a line of names, and n lines of numbers with 17 significant digits, so that reading gives back the
// same doubles. row is called once for each line, in their order, and may return the same slice each time.
func EncodeCSV(w io.Writer, names []string, n int, row func(i int) []float64) error {
	for j, name := range names {
		if strings.ContainsAny(name, "\r\n\x00") || string(Trim([]byte(name))) != name {
			return fmt.Errorf("the name %q of column %d has a line end, or a blank at its start or end", name, j+1)
		}
	}
	out, cells := csv.NewWriter(w), make([]string, len(names))
	err := out.Write(names)
	for i := 0; i < n && err == nil; i++ {
		for j, v := range row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d holds %g, expected finite numbers", i, v)
			}
			cells[j] = strconv.FormatFloat(v, 'g', 17, 64)
		}
		err = out.Write(cells)
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}
