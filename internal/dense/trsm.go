package dense

// trsmBlock is the number of columns that a triangular solve does by strips, before
// a matrix product takes them to the later columns.
const trsmBlock = 128

// TrsmRightLT overwrites X (m x n) with X L^{-T}, L n x n unit lower triangular.
func TrsmRightLT(m, n int, l []float64, ldl int, x []float64, ldx int) {
	Within{}.TrsmRightLT(m, n, l, ldl, x, ldx)
}

// TrsmRightLT is the function of that name.
func (in Within) TrsmRightLT(m, n int, l []float64, ldl int, x []float64, ldx int) {
	if m <= 0 || n <= 0 {
		return
	}
	checkMatrix("L", n, n, l, ldl)
	checkMatrix("X", m, n, x, ldx)
	in.solveRight(m, n, l, ldl, nil, x, ldx, x, ldx)
}

// SolvePanel takes the rows A (m x n) below a factored diagonal block L D L' (L n x n
// unit lower triangular, dInv the n reciprocals of D) to their part of the
// factor in one pass: W = A L^{-T} and A := W diag(dInv). With B = W, C = A they are
// the operands that SyrkNT and GemmNT want: C L' = W and W = C D.
func (in Within) SolvePanel(m, n int, l []float64, ldl int, dInv []float64, a []float64, lda int, w []float64,
	ldw int) {
	if m <= 0 || n <= 0 {
		return
	}
	checkMatrix("L", n, n, l, ldl)
	checkMatrix("A", m, n, a, lda)
	checkMatrix("W", m, n, w, ldw)
	checkVector("dInv", n, dInv)
	in.solveRight(m, n, l, ldl, dInv[:n], a, lda, w, ldw)
}

// solveRight computes W = A L^{-T} and, unless dInv is empty, A := W diag(dInv).
// Without dInv, W is A.
func (in Within) solveRight(m, n int, l []float64, ldl int, dInv []float64, a []float64, lda int, w []float64,
	ldw int) {
	if parts := in.shares(m, n, n) / 2; parts > 1 {
		in.share(parts, m, rowsPerBlock(), false, func(in Within, from, to int) { // rows of A
			in.solveRight(to-from, n, l, ldl, dInv, a[from:], lda, w[from:], ldw)
		})
		return
	}
	nr := columnsPerStrip()
	for j0 := 0; j0 < n; j0 += trsmBlock {
		j1 := min(j0+trsmBlock, n)
		// W L' = A by columns: W_J L_JJ' = A_J - W_I L_JI', I the columns before J.
		in.GemmNT(m, j1-j0, j0, w, ldw, l[j0:], ldl, a[j0*lda:], lda)
		for i := 0; i < m; i += blockRows {
			mb := min(blockRows, m-i)
			if in.Stop != nil && in.Stop.Reached(cost(mb, j1-j0, j1-j0)) {
				return
			}
			for j := j0; j < j1; j += nr {
				cols := min(nr, j1-j)
				trsmStrip(cols, mb, j-j0, w[i+j0*ldw:], ldw, l[j+j0*ldl:], ldl, a[i+j*lda:], lda, some(dInv, j, cols))
			}
		}
	}
}

// some returns x[from:from+n], or nothing of an empty x.
func some(x []float64, from, n int) []float64 {
	if len(x) == 0 {
		return nil
	}
	return x[from : from+n]
}
