package sparse

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/lower/design"
)

// byRows is the inverse of the matrix of what is free in an [implicit] problem, by its rows, for few dense rows and many columns. With D the diagonal of the ridge
// and Z the rows times the roots of their weights it is (Woodbury)
//
//	(D + Z'Z)^-1 = D^-1 - D^-1 Z' (I + Z D^-1 Z')^-1 Z D^-1.
type byRows struct {
	factor  factor.Definite
	on      bool
	free    []int            // what the factor is for
	designs []*design.Matrix // of the parts
	inverse []float64        // D^-1
	root    [][]float64      // of the weights of each part
	panel   []float64        // some columns of Z
	scaled  []float64        // the same, times -D^-1
}

const (
	// rowShare times the rows are fewer than the columns that are free, and mostRows bounds them.
	rowShare, mostRows = 3, 2000
	// panelColumns is the number of columns of a panel.
	panelColumns = 64
)

// prepare factors the matrix for what is free in p. It is not ok where the context ended; on says whether there is a factor.
// A factor for the same serves again.
func (f *byRows) prepare(p *implicit) (ok bool) {
	known := f.on
	f.on = false
	rows := 0
	for _, part := range p.parts {
		if rows += len(part.omega); !part.x.Dense() {
			return true
		}
	}
	if rows > mostRows || rowShare*rows > len(p.free) {
		return true
	}
	inverse := make([]float64, 0, len(p.free))
	for _, i := range p.free {
		d := p.ridge[i] + leastPlus*p.norm[i]
		if !(d > 0) {
			return true
		}
		inverse = append(inverse, 1/d)
	}
	var roots [][]float64
	var designs []*design.Matrix
	for _, part := range p.parts {
		root := make([]float64, len(part.omega))
		for i, w := range part.omega {
			root[i] = math.Sqrt(w)
		}
		roots, designs = append(roots, root), append(designs, part.x)
	}
	if known && slices.Equal(f.free, p.free) && slices.Equal(f.inverse, inverse) && slices.Equal(f.designs, designs) && slices.EqualFunc(f.root, roots, slices.Equal[[]float64]) {
		f.on = true
		return true
	}
	f.free, f.inverse, f.designs, f.root = slices.Clone(p.free), inverse, designs, roots
	matrix := make([]float64, rows*rows) // by columns, its lower triangle
	f.panel, f.scaled = make([]float64, rows*panelColumns), make([]float64, rows*panelColumns)
	for first := 0; first < len(p.free); first += panelColumns {
		count := min(panelColumns, len(p.free)-first)
		clear(f.panel)
		for l := range count {
			column := f.panel[l*rows : (l+1)*rows]
			at := 0
			for t, part := range p.parts {
				n := len(part.omega)
				f.column(column[at:at+n], part.x, p.columns[p.free[first+l]], f.root[t])
				at += n
			}
			scaled := f.scaled[l*rows : (l+1)*rows]
			for i, v := range column {
				scaled[i] = -v * f.inverse[first+l]
			}
		}
		dense.SyrkNT(rows, count, f.panel, rows, f.scaled, rows, matrix, rows)
		if p.end.Reached(rows * rows * count / 2) {
			return false
		}
	}
	f.factor.End = &p.end
	f.on = f.factor.Factor(rows, func(j int, column []float64) {
		copy(column[j:], matrix[j*rows+j:(j+1)*rows])
		column[j]++
	})
	return f.on || !p.end.Look()
}

// column sets out to a column of Z.
func (f *byRows) column(out []float64, x *design.Matrix, j int, root []float64) {
	if j == design.Ones {
		copy(out, root)
		return
	}
	_, value := x.Column(j)
	for i, v := range value {
		out[i] = v * root[i]
	}
}

// solve returns the inverse times r.
func (f *byRows) solve(p *implicit, r []float64) []float64 {
	z := make([]float64, len(r))
	for l, v := range r {
		z[l] = v * f.inverse[l]
	}
	var image []float64
	for t, part := range p.parts {
		v := make([]float64, len(part.omega))
		for l, i := range p.free {
			part.add(z[l], p.columns[i], v)
		}
		for i, w := range f.root[t] {
			v[i] *= w
		}
		image = append(image, v...)
	}
	f.factor.Solve(image)
	at := 0
	for t, part := range p.parts {
		v := image[at : at+len(part.omega)]
		at += len(part.omega)
		for i, w := range f.root[t] {
			v[i] *= w
		}
		for l, i := range p.free {
			z[l] -= f.inverse[l] * part.dot(p.columns[i], v)
		}
	}
	return z
}
