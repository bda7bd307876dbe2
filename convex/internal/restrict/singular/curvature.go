package singular

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// curvature is the part of a program's Lagrangian that is quadratic in a matrix variable X and in the other variables y,
//
//	sum_c w_c sum_r (a_r'X + b_r'y + const)^2 + identity |X|^2 + terms in y alone,
//
// with the weights w_c of the curves c. The rows are those of the curves that are not multiples of X itself. Residuals, which
// squares of the objective define, and other matrices are not in y. What has parameters as factors is left out.
type curvature struct {
	mv      *compile.MatrixVariable
	entries []int // the entries of X that rows read, in increasing order
	x       rows  // of places in entries
	y       rows  // of places in y
	curve   []int // of each row
	// whole are the curves that are multiples of X, and factor the squares of the multiples.
	whole  []int
	factor []float64

	offset []int // by variable, its first place in y, or -1
	ny     int
	// fixed is the Hessian in y of the curves with constant weights, and grams those
	// of the others at weight 1/2; nil where y is too long.
	fixed *mat.SymDense
	grams map[int]*mat.SymDense
}

// rows is a matrix by rows, compressed or dense.
type rows struct {
	ptr, at []int
	coef    []float64
	dense   []float64 // nil: compressed
	cols    int
}

func (m *rows) dot(r int, x []float64) float64 {
	if m.dense != nil {
		return floats.Dot(m.dense[r*m.cols:(r+1)*m.cols], x[:m.cols])
	}
	sum := 0.0
	for k := m.ptr[r]; k < m.ptr[r+1]; k++ {
		sum += m.coef[k] * x[m.at[k]]
	}
	return sum
}

func (m *rows) addTo(x []float64, r int, c float64) {
	if m.dense != nil {
		floats.AddScaled(x[:m.cols], c, m.dense[r*m.cols:(r+1)*m.cols])
		return
	}
	for k := m.ptr[r]; k < m.ptr[r+1]; k++ {
		x[m.at[k]] += c * m.coef[k]
	}
}

// squares is the sum of squares of a row.
func (m *rows) squares(r int) float64 {
	sum := 0.0
	for _, v := range m.coef[m.ptr[r]:m.ptr[r+1]] {
		sum += v * v
	}
	return sum
}

// fill makes the matrix dense if a fifth of its entries are there.
func (m *rows) fill(cols int) {
	n := len(m.ptr) - 1
	if 5*len(m.coef) < n*cols {
		return
	}
	m.cols, m.dense = cols, make([]float64, n*cols)
	for r := range n {
		for k := m.ptr[r]; k < m.ptr[r+1]; k++ {
			m.dense[r*cols+m.at[k]] += m.coef[k]
		}
	}
}

// maxResponse bounds the length of y for which the response of y is computed.
const maxResponse = 1000

// newCurvature collects the curves of a program.
func newCurvature(p *compile.Program, mv *compile.MatrixVariable) *curvature {
	h := &curvature{mv: mv, x: rows{ptr: []int{0}}, y: rows{ptr: []int{0}}, offset: make([]int, len(p.Vars))}
	hidden := map[*affine.Variable]bool{}
	for _, m := range p.Matrices {
		hidden[m.V] = true
	}
	for i := range p.Curves {
		if e := p.Curves[i].Residual; e != nil {
			hidden[e] = true
		}
	}
	for i, v := range p.Vars {
		h.offset[i] = -1
		if !hidden[v] {
			h.offset[i] = h.ny
			h.ny += v.N
		}
	}
	for c := range p.Curves {
		h.collect(&p.Curves[c].Arg, c)
	}
	entries := slices.Clone(h.x.at)
	slices.Sort(entries)
	h.entries = slices.Compact(entries)
	for k, e := range h.x.at {
		h.x.at[k], _ = slices.BinarySearch(h.entries, e)
	}
	if h.ny > 0 && h.ny <= maxResponse {
		h.squareRows(p)
		h.y.fill(h.ny)
	}
	return h
}

// collect takes the rows of one curve.
func (h *curvature) collect(arg *affine.Expr, c int) {
	if arg.Whole() && arg.Vars[0].V == h.mv.V {
		h.whole, h.factor = append(h.whole, c), append(h.factor, arg.Vars[0].Scale*arg.Vars[0].Scale)
		return
	}
	type entry struct {
		at   int
		coef float64
	}
	xs, ys := make([][]entry, arg.N), make([][]entry, arg.N)
	for _, t := range arg.Vars {
		to, off := ys, h.offset[t.V.ID]
		if t.V == h.mv.V {
			to, off = xs, 0
		}
		if off < 0 || t.W != nil {
			continue
		}
		t.EachEntry(func(r, j int, v float64) {
			row := t.Row(r)
			to[row] = append(to[row], entry{off + j, v})
		})
	}
	add := func(m *rows, list []entry) {
		for _, e := range list {
			m.at, m.coef = append(m.at, e.at), append(m.coef, e.coef)
		}
		m.ptr = append(m.ptr, len(m.at))
	}
	for r := range xs {
		if len(xs[r])+len(ys[r]) > 0 {
			add(&h.x, xs[r])
			add(&h.y, ys[r])
			h.curve = append(h.curve, c)
		}
	}
}

// squareRows computes the Hessians in y.
func (h *curvature) squareRows(p *compile.Program) {
	h.fixed, h.grams = mat.NewSymDense(h.ny, nil), map[int]*mat.SymDense{}
	for r, c := range h.curve {
		k, end := h.y.ptr[r], h.y.ptr[r+1]
		if k == end {
			continue
		}
		to, weight := h.fixed, 2*p.Curves[c].Scale
		if p.Curves[c].W != nil || p.Curves[c].Cone != nil {
			if h.grams[c] == nil {
				h.grams[c] = mat.NewSymDense(h.ny, nil)
			}
			to, weight = h.grams[c], 1
		}
		raw := to.RawSymmetric()
		for a := k; a < end; a++ {
			for b := k; b < end; b++ {
				if i, j := h.y.at[a], h.y.at[b]; i <= j {
					raw.Data[i*raw.Stride+j] += weight * h.y.coef[a] * h.y.coef[b]
				}
			}
		}
	}
}

// weigh returns the factors of the squares of all rows in the second derivative, and that of |X|^2.
func (h *curvature) weigh(weights []float64) (byRow []float64, identity float64) {
	for k, c := range h.whole {
		identity += 2 * weights[c] * h.factor[k]
	}
	byRow = make([]float64, len(h.curve))
	for r, c := range h.curve {
		byRow[r] = 2 * weights[c]
	}
	return byRow, identity
}

// hessianY returns the Hessian in y.
func (h *curvature) hessianY(weights []float64) *mat.SymDense {
	out := mat.NewSymDense(h.ny, nil)
	out.CopySym(h.fixed)
	to := out.RawSymmetric().Data
	for c := range weights { // in order: the sum does not depend on the map
		if gram := h.grams[c]; gram != nil {
			floats.AddScaled(to, 2*weights[c], gram.RawSymmetric().Data)
		}
	}
	return out
}
