package table

import (
	"math"
	"slices"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// summary is what stands in the place of missing numbers of a column, and the least and the largest of those that are
// there, the least above the largest where none is.
type summary struct{ fill, low, high float64 }

// summaries are those of columns over rows, by the rule for missing values: with the mean of the numbers that are there
// or with their median, 0 where none is. They are made for some columns at a time, or of compressed rows, where there
// are fewer numbers than cells, for all in one pass.
func (t *Table) summaries(rows, columns []int, rule string) []summary {
	const room = 1 << 20 // numbers that are kept at a time
	all := make([]summary, len(columns))
	t.sideBySide(len(columns), func(from, to int) {
		columns, out, each := columns[from:to], all[from:to], len(rows)
		together := max(4, room/max(1, each))
		if t.compressed() {
			each, together = 0, len(columns)
		}
		numbers := make([][]float64, min(len(columns), together))
		for k := range numbers {
			numbers[k] = make([]float64, 0, each)
		}
		for len(columns) > 0 {
			numbers = numbers[:min(len(columns), together)]
			stored := make([]int, len(numbers))
			t.stored(rows, columns[:len(numbers)], func(k int, v float64) {
				if stored[k]++; v == v {
					numbers[k] = append(numbers[k], v)
				}
			})
			for k, list := range numbers {
				zeros := len(rows) - stored[k]
				out[k].low, out[k].high = math.Inf(1), math.Inf(-1)
				for _, v := range append(list, make([]float64, min(zeros, 1))...) {
					out[k].low, out[k].high = min(out[k].low, v), max(out[k].high, v)
				}
				if numbers[k] = list[:0]; rule == Mean {
					out[k].fill = t.mean(rows, columns[k])
				} else {
					out[k].fill = median(list, zeros)
				}
			}
			columns, out = columns[len(numbers):], out[len(numbers):]
		}
	})
	return all
}

// stored calls f for the cells of some columns that rows keep, which are all but zeros, with the place of the column
// among these and the number, NaN for none.
func (t *Table) stored(rows, columns []int, f func(k int, v float64)) {
	at := make([]int32, len(t.columns)) // places of columns, from 1
	for k, j := range columns {
		at[j] = int32(k + 1)
	}
	for _, i := range rows {
		index, cells := t.row(i)
		if index == nil {
			for k, j := range columns {
				f(k, t.columns[j].value(cells[j]))
			}
		}
		for p, j := range index {
			if k := at[j]; k > 0 {
				f(int(k-1), t.columns[j].value(cells[p]))
			}
		}
	}
}

func (t *Table) mean(rows []int, j int) float64 {
	sum, n := 0.0, 0
	c := &t.columns[j]
	for _, i := range rows {
		if v := c.value(t.cell(i, j)); v == v {
			n++
			sum += (v - sum) / float64(n) // the mean so far
		}
	}
	return sum
}

// median is that of numbers, which it moves, and so many zeros; 0 of none.
func median(list []float64, zeros int) float64 {
	n := len(list) + zeros
	if n == 0 || zeros > n/2+1 {
		return 0
	}
	list = append(list, make([]float64, zeros)...)
	high := selectKth(list, n/2)
	if n%2 == 1 {
		return high
	}
	low := slices.Max(list[:n/2])
	return low + (high-low)/2
}

// selectKth moves values so that none before place k is larger than that at it, and none after it smaller, and returns
// that one. Of many values the pivot is that of a sample about place k (R. W. Floyd, R. L. Rivest, Algorithm 489,
// 1975).
func selectKth(values []float64, k int) float64 {
	const many = 600
	lo, hi := 0, len(values)-1
	for lo < hi {
		if n := float64(hi - lo + 1); n > many {
			size, share := math.Pow(n, 2./3)/2, float64(k-lo)/n
			beside := math.Sqrt(math.Log(n)*size*(n-size)/n) / 2
			from := max(lo, k-int(share*size+beside))
			selectKth(values[from:min(hi, k+int((1-share)*size+beside))+1], k-from)
		}
		pivot := values[k]
		i, j := lo, hi
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return values[k]
		}
	}
	return values[k]
}

// learn sets what is learned of rows: what stands in the place of missing numbers, splines and polynomials. All says
// that it is done for columns without missing values, too, with the ranges of numbers.
func (r *Reading) learn(rows []int, all bool) {
	var columns, slots []int
	for k := range r.slots {
		if s := &r.slots[k]; s.coding.Kind != Category && (all || r.table.columns[s.column].Missing > 0) {
			columns, slots = append(columns, s.column), append(slots, k)
		}
	}
	for k, of := range r.table.summaries(rows, columns, r.encoder.Rule) {
		coding := r.slots[slots[k]].coding
		if coding.Fill = of.fill; all && of.low <= of.high {
			coding.Range = []float64{of.low, of.high}
		}
	}
	for k := range r.slots {
		if s := &r.slots[k]; s.coding.Basis.learned() {
			s.coding.Basis = s.coding.Basis.of(r.table.observed(s.column, rows))
		}
	}
	if r.encoder.Rule == Regression {
		r.regress(rows)
	}
}

// learned is the reading with what is learned of other rows.
func (r *Reading) learned(rows []int) *Reading {
	out, e := *r, *r.encoder
	e.Columns, out.slots, out.encoder = slices.Clone(e.Columns), slices.Clone(r.slots), &e
	for k := range out.slots {
		out.slots[k].coding = &e.Columns[k]
	}
	out.learn(rows, false)
	return &out
}

// taught are the slots, and counted on from these the interactions, whose features in a row depend on what is learned:
// splines and polynomials, missing numbers, and interactions with these.
func (r *Reading) taught(row int) (list []int) {
	for k := range r.slots {
		if s := &r.slots[k]; s.coding.Basis.learned() || s.coding.Kind != Category &&
			r.table.columns[s.column].Missing > 0 && isMissing(r.table.cell(row, s.column)) {
			list = append(list, k)
		}
	}
	slots := list
	for k, p := range r.products {
		if slices.ContainsFunc(p.slots, func(k int) bool { return slices.Contains(slots, k) }) {
			list = append(list, len(r.slots)+k)
		}
	}
	return list
}

// Gaps are the entries of rows that are split into folds which depend on what is learned: in each fold of its training
// rows alone. It is nil where there are none.
func (r *Reading) Gaps(rows []int, folds []split.Fold) *dataset.Gaps {
	g := &dataset.Gaps{}
	if !slices.ContainsFunc(r.slots, func(s slot) bool {
		return s.coding.Basis.learned() || s.coding.Kind != Category && r.table.columns[s.column].Missing > 0
	}) {
		return nil
	}
	var parts [][]int // of the rows
	var list []entry
	for k, i := range rows {
		parts = append(parts, r.taught(i))
		list = r.these(list[:0], parts[k], i)
		for _, e := range list {
			g.Row, g.Feature = append(g.Row, k), append(g.Feature, e.feature)
		}
	}
	if len(g.Row) == 0 {
		return nil
	}
	for _, f := range folds {
		train := make([]int, len(f.Train))
		for k, i := range f.Train {
			train[k] = rows[i]
		}
		in, values := r.learned(train), make([]float64, 0, len(g.Row))
		for k, i := range rows {
			list = in.these(list[:0], parts[k], i)
			for _, e := range list {
				values = append(values, e.value)
			}
		}
		g.Values = append(g.Values, values)
	}
	return g
}

// these appends the features of some slots and interactions, see [Reading.taught].
func (r *Reading) these(list []entry, parts []int, row int) []entry {
	for _, k := range parts {
		if n := len(r.slots); k < n {
			list = r.entries(list, &r.slots[k], row, r.table.cell(row, r.slots[k].column), false)
		} else {
			list = r.multiply(list, &r.products[k-n], row)
		}
	}
	return list
}
