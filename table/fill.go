package table

import (
	"math"
	"slices"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// fills are the medians or means of columns of numbers over the rows that have them, 0 where none has.
func (t *Table) fills(rows, columns []int, rule string) []float64 {
	out := make([]float64, len(columns))
	if rule == Mean {
		for k, j := range columns {
			out[k] = t.mean(rows, j)
		}
		return out
	}
	t.sideBySide(len(columns), func(from, to int) { t.medians(rows, columns[from:to], out[from:to]) })
	return out
}

// ranges are the least and the largest numbers of columns over the rows that have them, the least above the largest
// where none has.
func (t *Table) ranges(rows, columns []int) [][2]float64 {
	out := make([][2]float64, len(columns))
	t.sideBySide(len(columns), func(from, to int) {
		out, stored := out[from:to], make([]int, to-from)
		for k := range out {
			out[k] = [2]float64{math.Inf(1), math.Inf(-1)}
		}
		t.stored(rows, columns[from:to], func(k int, v float64) {
			if stored[k]++; v == v {
				out[k] = [2]float64{min(out[k][0], v), max(out[k][1], v)}
			}
		})
		for k, n := range stored {
			if n < len(rows) {
				out[k] = [2]float64{min(out[k][0], 0), max(out[k][1], 0)}
			}
		}
	})
	return out
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

// medians are exact. Of many rows a sample says between which numbers the median of a column is, and then only those
// between them are kept, or all of a column whose sample was wrong (Floyd and Rivest, Algorithm 489, 1975).
func (t *Table) medians(rows, columns []int, out []float64) {
	const many, room = 1 << 12, 1 << 18 // rows, and numbers that are kept at a time
	n, sample := len(rows), rows
	margin, each := 0, n
	if n > many {
		size := int(math.Pow(float64(n), 2./3))
		sample = make([]int, size)
		for k := range sample {
			sample[k] = rows[k*n/size]
		}
		margin = int(2 * math.Sqrt(float64(size))) // four standard deviations
		each = 3 * margin * (n / size)
	}
	together := max(8, room/max(1, each))
	if t.compressed() { // in one pass, for which there are fewer numbers than cells
		each, together = 0, len(columns)
	}
	whole := func(*middle) (low, high float64) { return math.Inf(-1), math.Inf(1) }
	for len(columns) > 0 {
		of := make([]middle, min(len(columns), together))
		t.gather(sample, columns, of, min(each, len(sample)), whole)
		if margin > 0 {
			t.gather(rows, columns, of, each, func(m *middle) (low, high float64) {
				return m.at(m.n/2 - margin), m.at(m.n/2 + margin)
			})
		}
		for k := range of {
			if out[k] = of[k].median(); math.IsNaN(out[k]) {
				t.gather(rows, columns[k:], of[k:k+1], n, whole)
				out[k] = of[k].median()
			}
		}
		columns, out = columns[len(of):], out[len(of):]
	}
}

// gather fills middles of the first columns with their numbers in rows, with room for so many between bounds that may
// come of what they had.
func (t *Table) gather(rows, columns []int, of []middle, each int, bounds func(m *middle) (low, high float64)) {
	between, stored := make([]float64, len(of)*each), make([]int, len(of))
	for k := range of {
		low, high := bounds(&of[k])
		of[k] = middle{low: low, high: high, between: between[k*each : k*each : (k+1)*each]}
	}
	t.stored(rows, columns[:len(of)], func(k int, v float64) {
		if stored[k]++; v == v {
			of[k].add(v, 1)
		}
	})
	for k, n := range stored {
		if zeros := len(rows) - n; zeros > (of[k].n+zeros)/2+1 {
			of[k] = middle{n: 1, lows: 1} // the median is 0
		} else {
			of[k].add(0, zeros)
		}
	}
}

// middle are n numbers whose median is sought: how many are below a bound, at it and at a higher one, and those between
// the two.
type middle struct {
	low, high             float64
	n, below, lows, highs int
	between               []float64
}

// add adds a number so many times.
func (m *middle) add(v float64, times int) {
	m.n += times
	switch {
	case v < m.low:
		m.below += times
	case v == m.low:
		m.lows += times
	case v < m.high:
		for range times {
			m.between = append(m.between, v)
		}
	case v == m.high:
		m.highs += times
	}
}

// at is the number of a rank from 0 on, or an infinite one or none where it is not within the bounds.
func (m *middle) at(rank int) float64 {
	k := rank - m.below
	switch {
	case rank < 0:
		return math.Inf(-1)
	case k < 0:
		return math.NaN()
	case k < m.lows:
		return m.low
	case k-m.lows < len(m.between):
		return selectKth(m.between, k-m.lows)
	case k-m.lows-len(m.between) < m.highs:
		return m.high
	case rank >= m.n:
		return math.Inf(1)
	}
	return math.NaN()
}

// median is 0 without numbers, and none where it is not within the bounds.
func (m *middle) median() float64 {
	if m.n == 0 {
		return 0
	}
	high := m.at(m.n / 2)
	if m.n%2 == 1 {
		return high
	}
	low := m.at(m.n/2 - 1)
	return low + (high-low)/2
}

// selectKth moves values so that none before place k is larger than that at it, and none after it smaller, and returns
// that one (C. A. R. Hoare, Algorithm 65, 1961).
func selectKth(values []float64, k int) float64 {
	lo, hi := 0, len(values)-1
	for lo < hi {
		pivot := values[lo+(hi-lo)/2]
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
	for k, v := range r.table.fills(rows, columns, r.encoder.Rule) {
		r.slots[slots[k]].coding.Fill = v
	}
	if all {
		for k, v := range r.table.ranges(rows, columns) {
			if v[0] <= v[1] {
				r.slots[slots[k]].coding.Range = v[:]
			}
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
