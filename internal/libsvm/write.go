package libsvm

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Rows are a table to write: n labels, and the nonzeros of each row.
type Rows struct {
	// Labels are the n targets, Features is the number of columns.
	Labels   []float64
	Features int
	// Row returns the indices from 0, rising, and the values of row i; it is called once for each row, in their order.
	Row func(i int) (index []int, value []float64)
}

// Encode writes a table of which [Read] gives back the same doubles, with 17 significant digits. Zeros are left out,
// but for one in the last column of the first row where that has no other entry: it tells the number of columns.
func Encode(w io.Writer, r Rows) error {
	b := bufio.NewWriter(w)
	var line []byte
	number := func(v float64, i int) error {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("libsvm: row %d holds %g, expected finite numbers", i, v)
		}
		line = strconv.AppendFloat(line, v, 'g', 17, 64)
		return nil
	}
	for i, y := range r.Labels {
		line = line[:0]
		if err := number(y, i); err != nil {
			return err
		}
		index, value := r.Row(i)
		last := -1
		for k, j := range index {
			if j <= last || j >= r.Features {
				return fmt.Errorf("libsvm: row %d has index %d after %d, expected rising ones below %d", i, j, last, r.Features)
			}
			last = j
			if value[k] == 0 && !(i == 0 && j == r.Features-1) {
				continue
			}
			line = append(strconv.AppendInt(append(line, ' '), int64(j)+1, 10), ':')
			if err := number(value[k], i); err != nil {
				return err
			}
		}
		if i == 0 && last < r.Features-1 {
			line = append(strconv.AppendInt(append(line, ' '), int64(r.Features), 10), ":0"...)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}
