package native

import (
	"math"
	"slices"
)

// matrixPart is a semidefinite cone in the Newton systems, in one of three forms
// (see matrixForm). With A the rows of the cone, its own unknowns are dz and, for
// eliminateColumns, the columns that are the matrix:
//
//	eliminateRows     z = H^-1 (A x - rz),
//	                  (P + A'H^-1 A) x + .. = rx + A'H^-1 rz
//	eliminateColumns  A = diag(a): z = (rx - B'y)/a, x = (rz + H z)/a, y being the
//	                  unknowns of the other rows B of these columns, and with B~ = B diag(1/a)
//	                  -B~ H B~' y + .. = ry - B~ (rz + H (rx/a))
//	denseRows         H stands in the matrix.
type matrixPart struct {
	c        *semidefinite
	from, to int // rows
	g        gram
	own      []int32   // eliminateColumns: the column of each row
	entry    []int32   // and the entry a
	divided  []float64 // rx/a
	pushed   []float64 // what H or H^-1 makes of the right-hand side
	work     []float64
	of, term []float64 // eliminateRows: residuals of the rows, and H^-1 of them
	known    bool      // at the scaling there is
}

const (
	// Cholesky factors of a matrix part are exact to about this, relative to the
	// diagonal: so much is added to it.
	matrixRegularisation = 1e-14
	// A matrix variable whose entries in A are smaller than this beside others is not eliminated.
	ownMin = 1e-8
	// A cone with this many times more columns than rows keeps its rows.
	manyColumns = 2.5
)

// loadMatrices takes the numbers of A for the grams; false if a matrix variable
// has a row without a number in it.
func (k *kkt) loadMatrices() bool {
	f := k.f
	for _, p := range k.matrices {
		switch p.c.form {
		case eliminateRows:
			p.g.set(func(m *gramMember, e int) float64 { return f.a.val[m.from[e]] })
		case eliminateColumns:
			for _, e := range p.entry {
				if !(math.Abs(f.a.val[e]) >= ownMin) {
					return false
				}
			}
			p.g.set(func(m *gramMember, e int) float64 { return f.a.val[m.from[e]] / f.a.val[p.entry[m.row[e]]] })
		case denseRows:
			p.g.set(func(*gramMember, int) float64 { return 1 })
		}
	}
	return true
}

// add adds the semidefinite cones to K, and chooses the regularisation of
// the unknowns that they come to.
func (k *kkt) add() {
	for _, p := range k.matrices {
		p.known = false
		x, y := p.c.product()
		p.g.add(k.mat.val, x, y)
	}
	for _, p := range k.matrices {
		for i := range p.g.members {
			j := p.g.members[i].unknown
			k.shift[j] = float64(k.sign[j]) * (boundedRegularisation + matrixRegularisation*math.Abs(k.mat.val[k.diag[j]]))
		}
	}
}

// solve solves the systems with all their rows and columns.
func (k *kkt) solve(x, z, rx, rz []float64, to accuracy) error {
	if err := k.solveReduced(x, z, rx, rz, to); err != nil {
		return err
	}
	return k.refineMatrices(x, z, rx, rz, to)
}

// solveReduced is solve with residuals measured after what is eliminated.
func (k *kkt) solveReduced(x, z, rx, rz []float64, to accuracy) error {
	k.reduce(rx, rz)
	k.reduceMatrices(rx, rz)
	err := k.finish(x, z, rx, rz, to)
	k.recoverMatrices(x, z, rz)
	return err
}

// reduceMatrices brings the right-hand side of what is eliminated to rhs.
func (k *kkt) reduceMatrices(rx, rz []float64) {
	f := k.f
	for _, p := range k.matrices {
		switch p.c.form {
		case eliminateRows:
			if clear(p.pushed); maxAbs(rz[p.from:p.to]) == 0 {
				continue
			}
			p.c.mulSym(p.pushed, rz[p.from:p.to])
			p.g.dotAdd(k.rhs, p.pushed, 1)
		case eliminateColumns:
			for r, j := range p.own {
				p.divided[r] = rx[j] / f.a.val[p.entry[r]]
			}
			if clear(p.pushed); maxAbs(p.divided) != 0 {
				p.c.mulSym(p.pushed, p.divided)
			}
			axpy(1, rz[p.from:p.to], p.pushed)
			p.g.dotAdd(k.rhs, p.pushed, -1)
		}
	}
}

// recoverMatrices computes what was eliminated from the rest of x and z.
func (k *kkt) recoverMatrices(x, z, rz []float64) {
	f := k.f
	for _, p := range k.matrices {
		zp := z[p.from:p.to]
		switch p.c.form {
		case eliminateRows:
			clear(p.work)
			p.g.mulAdd(p.work, x, 1)
			p.c.mulSym(zp, p.work)
			axpy(-1, p.pushed, zp)
		case eliminateColumns:
			copy(zp, p.divided)
			p.g.mulAdd(zp, z, -1)
			p.c.mulSym(p.work, zp)
			axpy(1, rz[p.from:p.to], p.work)
			for r, j := range p.own {
				x[j] = p.work[r] / f.a.val[p.entry[r]]
			}
		}
	}
}

// withoutTerm takes the complementarity term d of the semidefinite cones in their
// inverse form, H^-1 d, and their residuals from the right-hand side of the rows to that of the columns:
//
//	-H dz + A dx = d - weight rz  is  -H (dz + H^-1 (d - weight rz)) + A dx = 0.
//
// H^-1 rz is computed once for all weights.
func (k *kkt) withoutTerm(rhsX, rhsZ, rz, d []float64, weight float64) {
	for _, p := range k.matrices {
		if p.c.form != eliminateRows {
			continue
		}
		own := rz[p.from:p.to]
		if weight != 0 && maxAbs(own) != 0 {
			if !p.known || !slices.Equal(p.of, own) {
				copy(p.of, own)
				p.c.mulSym(p.term, own)
				p.known = true
			}
			axpy(-weight, p.term, d[p.from:p.to])
		}
		clear(rhsZ[p.from:p.to])
		p.mulTransposed(rhsX, d[p.from:p.to])
	}
}

// withTerm takes what withoutTerm has left in d off the dz that it has led to.
func (k *kkt) withTerm(dz, d []float64) {
	for _, p := range k.matrices {
		if p.c.form == eliminateRows {
			axpy(-1, d[p.from:p.to], dz[p.from:p.to])
		}
	}
}

// whole says that some cone is eliminated, whose H has too few digits for differences from the iterate.
func (k *kkt) whole() bool { return k.eliminates }

// mulTransposed adds A'v to x, A being the rows of a part in the form eliminateRows.
func (p *matrixPart) mulTransposed(x, v []float64) {
	for i := range p.g.members {
		m := &p.g.members[i]
		x[m.item] += m.dot(v)
	}
}
