package dataset

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/libsvm"
)

// Sparse says whether X keeps its nonzeros only.
func (d *Data) Sparse() bool {
	_, ok := d.compressed()
	return ok
}

// compressed returns the compressed rows of a sparse table.
func (d *Data) compressed() (*sparse.CSR, bool) {
	if d == nil {
		return nil, false
	}
	x, ok := d.X.(*sparse.CSR)
	return x, ok && x != nil
}

// Row returns the stored entries of row i, of which value[k] stands in column index[k]; index is nil for a table that
// is not sparse, whose value has all p. The slices are to be read only.
func (d *Data) Row(i int) (index []int, value []float64) {
	switch x := d.X.(type) {
	case *sparse.CSR:
		raw := x.RawMatrix()
		lo, hi := raw.Indptr[i], raw.Indptr[i+1]
		if index = raw.Ind[lo:hi:hi]; index == nil {
			index = []int{}
		}
		return index, raw.Data[lo:hi:hi]
	case mat.RawRowViewer:
		return nil, x.RawRowView(i)
	}
	return nil, mat.Row(nil, i, d.X)
}

// Fill sets row, of length p, to row i with its zeros.
func (d *Data) Fill(row []float64, i int) {
	if l, ok := d.X.(*lazy); ok {
		l.fill(row, i)
		return
	}
	index, value := d.Row(i)
	if index == nil && len(value) == len(row) {
		copy(row, value)
		return
	}
	clear(row)
	for k, j := range index {
		row[j] = value[k]
	}
}

// Dot is the product of row i with b, of length p.
func (d *Data) Dot(i int, b []float64) float64 {
	index, value := d.Row(i)
	if index == nil {
		return floats.Dot(value, b)
	}
	sum := 0.0
	for k, j := range index {
		sum += value[k] * b[j]
	}
	return sum
}

// AddRow adds a times row i to out, of length p.
func (d *Data) AddRow(out []float64, a float64, i int) {
	index, value := d.Row(i)
	if index == nil {
		floats.AddScaled(out, a, value)
		return
	}
	for k, j := range index {
		out[j] += a * value[k]
	}
}

// Mul returns X b for b of length p. It skips the zeros of b where there are many.
func (d *Data) Mul(b []float64) []float64 {
	n, p := d.Dims()
	out := make([]float64, n)
	if d.Sparse() {
		for i := range out {
			out[i] = d.Dot(i, b)
		}
		return out
	}
	nonzero := indices.Where(b, func(v float64) bool { return v != 0 })
	row, room := func(i int) []float64 { _, row := d.Row(i); return row }, make([]float64, p)
	if l, ok := d.X.(*lazy); ok {
		row = func(i int) []float64 { return l.row(room, i) }
	}
	for i := range out {
		row := row(i)
		if 4*len(nonzero) > p {
			out[i] = floats.Dot(row, b)
			continue
		}
		sum := 0.0
		for _, j := range nonzero {
			sum += row[j] * b[j]
		}
		out[i] = sum
	}
	return out
}

// MulTrans returns X'r for r of length n.
func (d *Data) MulTrans(r []float64) []float64 {
	_, p := d.Dims()
	out := make([]float64, p)
	if l, ok := d.X.(*lazy); ok && l.mulTrans != nil {
		l.mulTrans(out, r)
		return out
	}
	for i, v := range r {
		d.AddRow(out, v, i)
	}
	return out
}

// Rows returns the rows with these indices, in this order, to be read only: a copy of their nonzeros where the table is
// sparse, and else what looks them up there. It panics when an index is out of range.
func (d *Data) Rows(index []int) *Data { return d.rows(index, nil, nil) }

// rows are those of index with the values of a fold in its gaps; both may be nil.
func (d *Data) rows(index []int, gaps *Gaps, values []float64) *Data {
	part := d.without(index)
	_, p := d.Dims()
	if len(index) == 0 || p == 0 {
		return part
	}
	if !d.Sparse() {
		x := &Data{X: d.X}
		part.X = lookedUp(len(index), p, func(i int) (*Data, int) { return x, index[i] }, gaps, values)
		return part
	}
	part.X = pick(p, index, d.Row)
	for k, i := range index {
		at, value := part.Row(k)
		features, from := gaps.of(i)
		for e, j := range features {
			if stored, found := slices.BinarySearch(at, j); found {
				value[stored] = values[from+e]
			}
		}
	}
	return part
}

// without has the rows without their features.
func (d *Data) without(index []int) *Data {
	part := &Data{Y: indices.Pick(d.Y, index), Features: d.Features, Target: d.Target}
	part.Weights, part.Offset = indices.Pick(d.Weights, index), indices.Pick(d.Offset, index)
	if d.Targets != nil && len(index) > 0 {
		_, q := d.Targets.Dims()
		part.Targets, part.TargetNames = mat.NewDense(len(index), q, nil), d.TargetNames
		for k, i := range index {
			part.Targets.SetRow(k, d.Targets.RawRowView(i))
		}
	}
	return part
}

// ScaledRows is [Data.Rows] with the features of its row k multiplied by scale[k].
func (d *Data) ScaledRows(index []int, scale []float64) *Data {
	part := d.Rows(index)
	if !part.Sparse() {
		part.X = part.Dense()
	}
	for k, a := range scale {
		_, value := part.Row(k)
		floats.Scale(a, value) // its own
	}
	return part
}

// pick makes compressed rows of p columns of those that row returns.
func pick(p int, rows []int, row func(i int) ([]int, []float64)) *sparse.CSR {
	start := make([]int, len(rows)+1)
	for k, i := range rows {
		_, value := row(i)
		start[k+1] = start[k] + len(value)
	}
	index, value := make([]int, 0, start[len(rows)]), make([]float64, 0, start[len(rows)])
	for _, i := range rows {
		j, v := row(i)
		index, value = append(index, j...), append(value, v...)
	}
	return sparse.NewCSR(len(rows), p, start, index, value)
}

// Stack returns the rows of a followed by those of b, with the names of a: sparse where both are. It panics when they
// have different numbers of features. Rows of dense tables are shared, so that these must not change.
func Stack(a, b *Data) *Data {
	n, p := a.Dims()
	m, q := b.Dims()
	if p != q {
		panic(mat.ErrShape)
	}
	out := &Data{Y: slices.Concat(a.Y, b.Y), Features: a.Features, Target: a.Target}
	if a.Weights != nil || b.Weights != nil {
		out.Weights = slices.Concat(a.RowWeights(), b.RowWeights())
	}
	if a.Offset != nil || b.Offset != nil {
		out.Offset = slices.Concat(a.RowOffset(), b.RowOffset())
	}
	if a.Targets != nil && b.Targets != nil {
		out.Targets, out.TargetNames = new(mat.Dense), a.TargetNames
		out.Targets.Stack(a.Targets, b.Targets)
	}
	first, second := &Data{X: a.X}, &Data{X: b.X}
	of := func(i int) (*Data, int) {
		if i < n {
			return first, i
		}
		return second, i - n
	}
	if out.X = lookedUp(n+m, p, of, nil, nil); a.Sparse() && b.Sparse() {
		out.X = pick(p, indices.Range(0, n+m), func(i int) ([]int, []float64) {
			d, k := of(i)
			return d.Row(k)
		})
	}
	return out
}

// Dense returns X with all its zeros: itself where it is a dense matrix in one piece, and else a copy.
func (d *Data) Dense() *mat.Dense {
	switch x := d.X.(type) {
	case *mat.Dense:
		return x
	case *lazy:
		return x.whole()
	}
	n, p := d.Dims()
	x := mat.NewDense(n, p, nil)
	for i := range n {
		d.Fill(x.RawRowView(i), i)
	}
	return x
}

// Compress returns the table with the nonzeros of its features alone; itself where it is sparse.
func (d *Data) Compress() *Data {
	if d.Sparse() {
		return d
	}
	n, p := d.Dims()
	start := make([]int, n+1)
	var index []int
	var value []float64
	for i := range n {
		_, row := d.Row(i)
		for j, v := range row {
			if v != 0 {
				index, value = append(index, j), append(value, v)
			}
		}
		start[i+1] = len(index)
	}
	out := *d
	out.X = sparse.NewCSR(n, p, start, index, value)
	return &out
}

// MostlyZero says whether less than a quarter of the entries of X is not zero, so that it is better kept sparse.
func (d *Data) MostlyZero() bool {
	n, p := d.Dims()
	return libsvm.Sparse(d.Nonzeros(), n, p)
}

// Nonzeros counts the entries of X that are not zero.
func (d *Data) Nonzeros() int {
	n, _ := d.Dims()
	count := 0
	for i := range n {
		_, value := d.Row(i)
		count += floats.Count(func(v float64) bool { return v != 0 }, value)
	}
	return count
}

// Stored is how many numbers the table keeps of its features: all of a dense one, and those that are in a sparse one.
func (d *Data) Stored() int {
	if x, ok := d.compressed(); ok {
		return x.NNZ()
	}
	n, p := d.Dims()
	return n * p
}

// Like returns the table in the form of another one, sparse or not.
func (d *Data) Like(other *Data) *Data {
	switch {
	case other.Sparse():
		return d.Compress()
	case d.Sparse():
		out := *d
		out.X = d.Dense()
		return &out
	}
	return d
}

// Deviations are the standard deviations of the features over the rows, with divisor n, or by their weights.
func (d *Data) Deviations() []float64 {
	_, deviation := d.Moments()
	return deviation
}

// Moments are the means of the features, as their deviations are, and these, 0 for constant ones.
func (d *Data) Moments() (mean, deviation []float64) {
	if l, ok := d.X.(*lazy); ok && d.Weights == nil {
		mean, deviation = l.moments()
		return slices.Clone(mean), slices.Clone(deviation)
	}
	return d.allMoments()
}

func (d *Data) allMoments() (mean, deviation []float64) {
	_, p := d.Dims()
	mean, deviation = make([]float64, p), make([]float64, p)
	if !d.inMemory() {
		return d.momentsOf(0, p)
	}
	crew.Ranges(p, func(from, to int) {
		ownMean, ownDeviation := d.momentsOf(from, to)
		copy(mean[from:to], ownMean)
		copy(deviation[from:to], ownDeviation)
	})
	return mean, deviation
}

// inMemory says whether rows need not be computed.
func (d *Data) inMemory() bool {
	switch x := d.X.(type) {
	case *mat.Dense:
		return true
	case *lazy:
		return x.n > 0 && x.share(0) != nil
	}
	return false
}

// momentsOf are those of a range of the columns, which is that of all where the table is sparse.
func (d *Data) momentsOf(from, to int) (mean, deviation []float64) {
	n, _ := d.Dims()
	p := to - from
	mean, deviation = make([]float64, p), make([]float64, p)
	if n == 0 {
		return mean, deviation
	}
	total := float64(n)
	if d.Weights != nil {
		total = floats.Sum(d.Weights)
	}
	// Row by row, as X lies in memory. First the means and half the ranges ..
	lo, hi := slices.Repeat([]float64{math.Inf(1)}, p), slices.Repeat([]float64{math.Inf(-1)}, p)
	stored, weight := make([]int, p), make([]float64, p) // of a sparse table
	d.eachRow(func(index []int, value []float64, w float64) {
		if index == nil {
			value = value[from:to]
		}
		for k, v := range value {
			j := k
			if index != nil {
				j = index[k]
				stored[j]++
				weight[j] += w
			}
			mean[j] += w * v
			lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
		}
	})
	sparse, half := d.Sparse(), make([]float64, p)
	for j := range half {
		mean[j] /= total
		if sparse && stored[j] < n {
			lo[j], hi[j] = min(lo[j], 0), max(hi[j], 0)
		}
		if half[j] = hi[j]/2 - lo[j]/2; !(half[j] > 0) {
			mean[j] = lo[j] // without the rounding of the sum
			half[j] = 1     // of a constant, which is at its mean
		}
	}
	// .. then the variances, in units of the half range, whose squares stay in the range of a float64 whatever the unit of
	// the column.
	d.eachRow(func(index []int, value []float64, w float64) {
		if index == nil {
			value = value[from:to]
		}
		for k, v := range value {
			j := k
			if index != nil {
				j = index[k]
			}
			u := (v - mean[j]) / half[j]
			deviation[j] += w * u * u
		}
	})
	for j, h := range half {
		if sparse && stored[j] < n {
			u := mean[j] / h
			deviation[j] += math.Max(0, total-weight[j]) * u * u
		}
		deviation[j] = math.Sqrt(deviation[j]/total) * h
	}
	return mean, deviation
}

// eachRow calls f for the stored entries of each row, as [Data.Row] has them, with the weight of the row.
func (d *Data) eachRow(f func(index []int, value []float64, w float64)) {
	n, _ := d.Dims()
	for i := range n {
		w := 1.0
		if d.Weights != nil {
			w = d.Weights[i]
		}
		index, value := d.Row(i)
		f(index, value, w)
	}
}

// each calls f for the stored entries, row by row.
func (d *Data) each(f func(j int, v float64)) {
	d.eachRow(func(index []int, value []float64, _ float64) {
		for k, v := range value {
			j := k
			if index != nil {
				j = index[k]
			}
			f(j, v)
		}
	})
}
