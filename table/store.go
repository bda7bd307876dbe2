package table

import (
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/conetune/conetune/internal/crew"
)

// block is a stretch of rows: dense, x row by row, or with the cells that are not zero in compressed rows.
type block struct {
	first, n int     // rows of the table
	line     int     // of the first row, where all rows stand on lines one after the other
	lines    []int32 // else those of the rows
	x        []float64
	start    []int32
	index    []int32
	value    []float64
}

// lineOf is the line of a row of the block.
func (b *block) lineOf(k int) int {
	if b.lines != nil {
		return int(b.lines[k])
	}
	return b.line + k
}

// row returns the cells of a row of the block of so many columns; index is nil where there are all.
func (b *block) row(k, width int) (index []int32, cells []float64) {
	if b.start == nil {
		return nil, b.x[k*width : (k+1)*width : (k+1)*width]
	}
	lo, hi := b.start[k], b.start[k+1]
	return b.index[lo:hi:hi], b.value[lo:hi:hi]
}

// sparseShare is the share of cells up to which a block keeps its nonzeros only: they take 12 bytes instead of 8.
const sparseShare = 3

// settle gives the block its own memory: x is that of the reader.
func (b *block) settle(x []float64, width int) (bytes int) {
	nonzero := 0
	for _, v := range x {
		if math.Float64bits(v) != 0 {
			nonzero++
		}
	}
	if sparseShare*nonzero > len(x)-b.n {
		b.x = slices.Clone(x)
		return 8 * len(x)
	}
	b.start = append(make([]int32, 0, b.n+1), 0)
	b.index, b.value = make([]int32, 0, nonzero), make([]float64, 0, nonzero)
	for ; len(x) > 0; x = x[width:] {
		for j, v := range x[:width] {
			if math.Float64bits(v) != 0 {
				b.index, b.value = append(b.index, int32(j)), append(b.value, v)
			}
		}
		b.start = append(b.start, int32(len(b.value)))
	}
	return 12*nonzero + 4*b.n
}

// addRows appends rows of cells that stand on these lines, and returns the bytes that they take.
func (t *Table) addRows(x []float64, lines []int32) (bytes int) {
	b := block{first: t.rows, n: len(lines), line: int(lines[0])}
	for k, line := range lines {
		if int(line) != b.line+k {
			b.lines = slices.Clone(lines)
			break
		}
	}
	bytes = b.settle(x, len(t.columns)) + 4*len(b.lines)
	t.rows += b.n
	t.blocks = append(t.blocks, b)
	return bytes
}

// at returns the block of a row, and the row in it.
func (t *Table) at(i int) (b *block, k int) {
	s := sort.Search(len(t.blocks), func(s int) bool { return t.blocks[s].first > i }) - 1
	b = &t.blocks[s]
	return b, i - b.first
}

// row returns the cells of a row, as [block.row] does.
func (t *Table) row(i int) (index []int32, cells []float64) {
	b, k := t.at(i)
	return b.row(k, len(t.columns))
}

// compressed says that some rows have only the cells that are not zero. A pass over them costs the same for a few
// columns as for all.
func (t *Table) compressed() bool {
	return slices.ContainsFunc(t.blocks, func(b block) bool { return b.start != nil })
}

// sideBySide calls f for ranges of n columns, on the threads that there are, and for all of compressed rows.
func (t *Table) sideBySide(n int, f func(from, to int)) {
	if t.compressed() {
		f(0, n)
		return
	}
	crew.Ranges(n, f)
}

// cell is that of a row and a column.
func (t *Table) cell(i, j int) float64 {
	index, cells := t.row(i)
	return cellOf(index, cells, j)
}

// cellOf is the cell in column j of a row as [block.row] returns it.
func cellOf(index []int32, cells []float64, j int) float64 {
	if index == nil {
		return cells[j]
	}
	if k, found := slices.BinarySearch(index, int32(j)); found {
		return cells[k]
	}
	return 0
}

// Line is the line of the file on which a row stands, from 1.
func (t *Table) Line(row int) int {
	b, k := t.at(row)
	return b.lineOf(k)
}

// eachOf are the cells of a column with their rows.
func (t *Table) eachOf(j int) iter.Seq2[int, float64] {
	return func(yield func(i int, cell float64) bool) {
		for s := range t.blocks {
			b := &t.blocks[s]
			for k := range b.n {
				index, cells := b.row(k, len(t.columns))
				if !yield(b.first+k, cellOf(index, cells, j)) {
					return
				}
			}
		}
	}
}
