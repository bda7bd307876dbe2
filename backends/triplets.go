package backends

import (
	"math"
	"slices"
	"sort"

	"github.com/james-bowman/sparse"
)

// Triplets collect the entries of a sparse matrix in any order, and make the compressed columns of a [Problem] of them:
// sorted, with entries of the same place added up. The zero value is an empty list.
type Triplets struct {
	// Row, Col and Value are the entries, in the order in which they came, counted from 0.
	Row, Col []int32
	Value    []float64

	outside bool // an index that Row or Col cannot hold was given: at
	at      [2]int
}

// NewTriplets returns an empty list with room for so many entries.
func NewTriplets(room int) *Triplets {
	room = max(0, room)
	return &Triplets{Row: make([]int32, 0, room), Col: make([]int32, 0, room), Value: make([]float64, 0, room)}
}

// Add appends an entry. The same place may come several times.
func (t *Triplets) Add(row, col int, v float64) {
	if uint(row) > math.MaxInt32 || uint(col) > math.MaxInt32 {
		if !t.outside {
			t.outside, t.at = true, [2]int{row, col}
		}
		return
	}
	t.Row, t.Col, t.Value = append(t.Row, int32(row)), append(t.Col, int32(col)), append(t.Value, v)
}

// Len returns the number of entries in the list.
func (t *Triplets) Len() int { return len(t.Value) }

// CSC returns the rows x cols matrix with increasing rows in each column and repeated entries added up, in the order in
// which they came. Zeros stay, so that an [Update] may give them other values. An entry outside of the matrix is a
// [*ProblemError].
func (t *Triplets) CSC(rows, cols int) (*sparse.CSC, error) {
	if err := t.check(rows, cols); err != nil {
		return nil, err
	}
	start := make([]int, cols+1)
	for _, j := range t.Col {
		start[j+1]++
	}
	for j := range cols {
		start[j+1] += start[j]
	}
	index, value := make([]int, t.Len()), make([]float64, t.Len())
	next := slices.Clone(start[:cols])
	for k, j := range t.Col {
		at := next[j]
		index[at], value[at] = int(t.Row[k]), t.Value[k]
		next[j]++
	}
	out := 0
	for j := range cols {
		from, to := start[j], start[j+1]
		if column := index[from:to]; !slices.IsSorted(column) {
			sort.Stable(&columnEntries{column, value[from:to]})
		}
		start[j] = out
		for k := from; k < to; k++ {
			if out > start[j] && index[out-1] == index[k] {
				value[out-1] += value[k]
				continue
			}
			index[out], value[out] = index[k], value[k]
			out++
		}
	}
	start[cols] = out
	return sparse.NewCSC(rows, cols, start, index[:out], value[:out]), nil
}

// matrix is CSC for entries that are within the matrix.
func (t *Triplets) matrix(rows, cols int) *sparse.CSC {
	out, err := t.CSC(rows, cols)
	mustHave(err == nil)
	return out
}

// forFactor is the matrix of order n as package ldl takes it.
func (t *Triplets) forFactor(n int) (ptr, ind []int32, val []float64, err error) {
	whole, err := t.CSC(n, n)
	if err != nil {
		return nil, nil, nil, err
	}
	raw := whole.RawMatrix()
	for _, at := range raw.Indptr {
		ptr = append(ptr, int32(at))
	}
	for _, i := range raw.Ind {
		ind = append(ind, int32(i))
	}
	return ptr, ind, raw.Data, nil
}

func (t *Triplets) check(rows, cols int) error {
	if rows < 0 || cols < 0 {
		return bad("Triplets", "cannot make a %d x %d matrix", rows, cols)
	}
	if len(t.Row) != len(t.Value) || len(t.Col) != len(t.Value) {
		return bad("Triplets", "has %d rows, %d columns and %d values, expected as many of each", len(t.Row), len(t.Col),
			len(t.Value))
	}
	row, col, outside := t.at[0], t.at[1], t.outside
	for k, i := range t.Row {
		if j := t.Col[k]; !outside && (i < 0 || j < 0 || int(i) >= rows || int(j) >= cols) {
			row, col, outside = int(i), int(j), true
		}
	}
	if outside {
		return bad("Triplets", "entry (%d, %d) is outside of %d x %d", row, col, rows, cols)
	}
	return nil
}

// columnEntries sorts a column by rows.
type columnEntries struct {
	index []int
	value []float64
}

func (e *columnEntries) Len() int           { return len(e.index) }
func (e *columnEntries) Less(i, j int) bool { return e.index[i] < e.index[j] }
func (e *columnEntries) Swap(i, j int) {
	e.index[i], e.index[j] = e.index[j], e.index[i]
	e.value[i], e.value[j] = e.value[j], e.value[i]
}
