package pdhg

import (
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/spread"
)

// lines is a sparse matrix line by line: its rows, or its columns.
type lines struct {
	ptr []int
	ind []int32
	val []float64
}

// times is the product of line i with x.
func (l *lines) times(i int, x []float64) (sum float64) {
	ind, val := l.ind[l.ptr[i]:l.ptr[i+1]], l.val[l.ptr[i]:l.ptr[i+1]]
	for k, j := range ind {
		sum += val[k] * x[j]
	}
	return sum
}

// across returns the lines of the other direction, of which there are n.
func (l *lines) across(n int) lines {
	out := lines{make([]int, n+1), make([]int32, len(l.ind)), make([]float64, len(l.val))}
	for _, j := range l.ind {
		out.ptr[j+1]++
	}
	for j := range n {
		out.ptr[j+1] += out.ptr[j]
	}
	next := append([]int(nil), out.ptr[:n]...)
	for i := range len(l.ptr) - 1 {
		for k := l.ptr[i]; k < l.ptr[i+1]; k++ {
			at := next[l.ind[k]]
			next[l.ind[k]]++
			out.ind[at], out.val[at] = int32(i), l.val[k]
		}
	}
	return out
}

// scale multiplies by the factors of lines and of the entries in them.
func (l *lines) scale(line, entry []float64, by float64) {
	for i := range len(l.ptr) - 1 {
		for k := l.ptr[i]; k < l.ptr[i+1]; k++ {
			l.val[k] *= by * line[i] * entry[l.ind[k]]
		}
	}
}

// form is the problem in its scale, with rows of one entry as bounds of x:
//
//	x = d x' right,   s = s' right / e,   z = e z' / cost.
type form struct {
	columns, rows lines // of A
	p             lines // all of P
	q, b          []float64
	lower, upper  []float64 // of x
	low, high     []float64 // of s; no numbers in the rows of blocks
	blocks        []block   // the second-order cones
	d, e          []float64
	right, cost   float64
	row           []int32 // of the problem, for each row
	bounds        []bounds
	normA, normP  float64
}

// block has the rows from first up to end.
type block struct{ first, end int }

// work is how many numbers a step goes through.
func (f *form) work() int { return len(f.q) + len(f.b) + 2*len(f.columns.val) + len(f.p.val) }

// inBlock says whether a row is of a second-order cone.
func (f *form) inBlock(i int) bool { return math.IsNaN(f.low[i]) }

// bounds of a variable have the rows of the problem that they come from, -1 for none, and the entries there.
type bounds struct {
	lowerRow, upperRow     int32
	lowerEntry, upperEntry float64
}

// newForm scales a problem.
func newForm(p *backends.Problem) *form {
	n, _ := p.Dims()
	f := &form{q: append([]float64(nil), p.Q...), lower: make([]float64, n), upper: make([]float64, n),
		bounds: make([]bounds, n)}
	for j := range n {
		f.lower[j], f.upper[j] = math.Inf(-1), math.Inf(1)
		f.bounds[j].lowerRow, f.bounds[j].upperRow = -1, -1
	}
	f.takeRows(p)
	f.takeP(p)
	f.scale()
	f.normA = norm(&f.rows, &f.columns)
	f.normP = norm(&f.p, &f.p)
	return f
}

// takeRows takes A and b, without the rows that are bounds.
func (f *form) takeRows(p *backends.Problem) {
	n, m := p.Dims()
	count := make([]int, m)
	if p.A != nil {
		raw := p.A.RawMatrix()
		for k, v := range raw.Data {
			if v != 0 {
				count[raw.Ind[k]]++
			}
		}
	}
	number := make([]int32, m) // of the rows that stay, -1 for bounds
	for first, c := range backends.Rows(p.Cones) {
		intervals := c.Kind.Intervals()
		if !intervals && c.Dim > 0 {
			f.blocks = append(f.blocks, block{len(f.b), len(f.b) + c.Dim})
		}
		for i := range c.Dim {
			r := first + i
			if intervals && count[r] == 1 {
				number[r] = -1
				continue
			}
			number[r] = int32(len(f.b))
			low, high := math.NaN(), math.NaN()
			if intervals {
				low, high = c.Interval(i)
			}
			f.row, f.b = append(f.row, int32(r)), append(f.b, p.B[r])
			f.low, f.high = append(f.low, low), append(f.high, high)
		}
	}
	f.columns.ptr = make([]int, n+1)
	single := make([]struct { // of each row that is a bound
		col int32
		a   float64
	}, m)
	if p.A != nil {
		raw := p.A.RawMatrix()
		for j := range n {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				switch i, v := raw.Ind[k], raw.Data[k]; {
				case v == 0:
				case number[i] < 0:
					single[i].col, single[i].a = int32(j), v
				default:
					f.columns.ind = append(f.columns.ind, number[i])
					f.columns.val = append(f.columns.val, v)
				}
			}
			f.columns.ptr[j+1] = len(f.columns.ind)
		}
	}
	for first, c := range backends.Rows(p.Cones) {
		for i := range c.Dim {
			if r := first + i; number[r] < 0 {
				low, high := c.Interval(i)
				f.bound(int(single[r].col), r, single[r].a, p.B[r]-high, p.B[r]-low)
			}
		}
	}
}

// bound adds low <= a x_j <= high of a row.
func (f *form) bound(j, row int, a, low, high float64) {
	low, high = low/a, high/a
	if a < 0 {
		low, high = high, low
	}
	b := &f.bounds[j]
	if low > f.lower[j] {
		f.lower[j], b.lowerRow, b.lowerEntry = low, int32(row), a
	}
	if high < f.upper[j] {
		f.upper[j], b.upperRow, b.upperEntry = high, int32(row), a
	}
}

// takeP takes P, of which the upper triangle is given.
func (f *form) takeP(p *backends.Problem) {
	n, _ := p.Dims()
	var both backends.Triplets // triangles
	for j := 0; j < n && p.P != nil; j++ {
		raw := p.P.RawMatrix()
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i, v := raw.Ind[k], raw.Data[k]; v != 0 {
				if both.Add(i, j, v); i != j {
					both.Add(j, i, v)
				}
			}
		}
	}
	whole, _ := both.CSC(n, n) // all are within
	raw := whole.RawMatrix()
	f.p = lines{ptr: raw.Indptr, val: raw.Data}
	for _, i := range raw.Ind {
		f.p.ind = append(f.p.ind, int32(i))
	}
}

const scaleSweeps = 8

// scale finds the factors, and scales everything. Rows of a second-order cone have one factor.
func (f *form) scale() {
	n, m := len(f.q), len(f.b)
	system := spread.System{Rows: m, Cols: n, A: entries(&f.columns, false), P: entries(&f.p, true),
		Blocks: func(visit func(first, dim int)) {
			for _, b := range f.blocks {
				visit(b.first, b.end-b.first)
			}
		}}
	factors := system.Solve(scaleSweeps, 0).Powers()
	f.d, f.e = factors.D, factors.E
	column, row := make([]float64, n), make([]float64, m) // sums of absolute entries
	for j := range n {
		for k := f.columns.ptr[j]; k < f.columns.ptr[j+1]; k++ {
			i := f.columns.ind[k]
			v := math.Abs(f.columns.val[k]) * f.d[j] * f.e[i]
			column[j] += v
			row[i] += v
		}
	}
	for _, b := range f.blocks {
		most := 0.0
		for _, v := range row[b.first:b.end] {
			most = max(most, v)
		}
		for i := b.first; i < b.end; i++ {
			row[i] = most
		}
	}
	byRoots(f.d, column)
	byRoots(f.e, row)
	f.columns.scale(f.d, f.e, 1)
	f.rows = f.columns.across(m)

	size, sizeB := 0.0, 0.0
	for j := range n {
		f.q[j] *= f.d[j]
		size += f.q[j] * f.q[j]
	}
	for i := range m {
		f.b[i] *= f.e[i]
		f.low[i] *= f.e[i]
		f.high[i] *= f.e[i]
		if side := min(math.Abs(f.b[i]-f.low[i]), math.Abs(f.b[i]-f.high[i])); side <= math.MaxFloat64 {
			sizeB += side * side
		} else {
			sizeB += f.b[i] * f.b[i]
		}
	}
	f.right, f.cost = 1+math.Sqrt(sizeB), 1/(1+math.Sqrt(size))
	for j := range n {
		f.q[j] *= f.cost
		by := 1 / (f.d[j] * f.right)
		f.lower[j] *= by
		f.upper[j] *= by
	}
	for i := range m {
		f.b[i] /= f.right
		f.low[i] /= f.right
		f.high[i] /= f.right
	}
	f.p.scale(f.d, f.d, f.cost*f.right)
}

// entries are those of a matrix of columns, of a symmetric one the upper triangle.
func entries(l *lines, symmetric bool) spread.Entries {
	e := spread.Grow(len(l.val))
	for j := range len(l.ptr) - 1 {
		for k := l.ptr[j]; k < l.ptr[j+1]; k++ {
			if i := int(l.ind[k]); !symmetric || i <= j {
				e.Add(i, j, spread.RoughLog2(math.Abs(l.val[k])))
			}
		}
	}
	return e
}

// byRoots divides factors by the roots of sums that are not zero.
func byRoots(factor, sum []float64) {
	for i, v := range sum {
		if v > 0 {
			factor[i] /= math.Sqrt(v)
		}
	}
}

const (
	normSteps = 40
	normSlack = 1.05 // what the power method may be short of
)

// norm returns a bound of |A|_2, by the power method on A'A.
func norm(rows, columns *lines) float64 {
	n, m := len(columns.ptr)-1, len(rows.ptr)-1
	if len(rows.val) == 0 {
		return 0
	}
	x, y := make([]float64, n), make([]float64, m)
	for j := range x { // no direction is missing, and none is like the rows of a problem of ours
		x[j] = 1 + 0.5*math.Sin(float64(j))
	}
	size := 0.0
	for range normSteps {
		square := 0.0
		for _, v := range x {
			square += v * v
		}
		by := 1 / math.Sqrt(square)
		for j := range x {
			x[j] *= by
		}
		square = 0
		for i := range y {
			y[i] = rows.times(i, x)
			square += y[i] * y[i]
		}
		size = math.Sqrt(square)
		for j := range x {
			x[j] = columns.times(j, y)
		}
	}
	return normSlack * size
}
