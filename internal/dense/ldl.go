package dense

// ldlPanel is the number of columns that LDL factors before it subtracts what they
// contribute to the columns after them.
const ldlPanel = 128

// ldlColumns is the number of columns that are factored one by one.
const ldlColumns = 8

// LDL factors the symmetric n x n matrix given by its lower triangle a, in place:
// A = L D L' with L unit lower triangular and D = diag(d).
//
// On return a holds L below the diagonal, d the pivots; the diagonal of a is
// unspecified and the part above it untouched. sign[i] is the sign (+1 or -1) that
// pivot i must have: a pivot with sign[i]*d <= eps is replaced by the larger of
// delta and |d| with that sign. (A pivot of the wrong sign is rounding, and what stands
// below it is of its size: divided by a much smaller delta it would grow from column
// to column.) LDL returns how many were replaced. There is no pivoting: it is meant for
// quasi-definite matrices, for which every order is stable enough (Vanderbei,
// "Symmetric quasidefinite matrices", SIAM J. Optim. 5 (1995)). A NaN in a is not
// replaced and reaches d.
func LDL(n int, a []float64, lda int, d []float64, sign []int8, eps, delta float64) int {
	return Within{}.LDL(n, a, lda, d, sign, eps, delta)
}

// LDL is the function of that name.
func (in Within) LDL(n int, a []float64, lda int, d []float64, sign []int8, eps, delta float64) int {
	if n <= 0 {
		return 0
	}
	checkMatrix("A", n, n, a, lda)
	checkVector("d", n, d)
	if len(sign) < n {
		panic("dense: sign is shorter than the matrix")
	}
	if n <= ldlColumns {
		var dInv [ldlColumns]float64
		return ldlUnblocked(n, a, lda, d, dInv[:], sign, eps, delta)
	}
	w := getWorkspace()
	dInv := w.dInv[:]
	replaced := 0
	for j := 0; j < n; j += ldlPanel {
		nb := min(ldlPanel, n-j)
		if in.Stop != nil && in.Stop.Reached(cost(nb, nb, nb)) {
			break
		}
		diagonal := a[j+j*lda:]
		below := n - j - nb
		ld := resize(&w.ld, max(nb, below)*nb)
		replaced += ldlBlock(nb, diagonal, lda, d[j:], dInv, sign[j:], eps, delta, ld)
		if below > 0 {
			l21 := diagonal[nb:]
			in.solveRight(below, nb, diagonal, lda, dInv[:nb], l21, lda, ld, below)
			in.SyrkNT(below, nb, l21, lda, ld, below, diagonal[nb+nb*lda:], lda)
		}
	}
	w.release()
	return replaced
}

// ldlBlock factors an n x n block, n <= ldlPanel, ldlColumns at a time (left-looking). Each
// such block J takes what the columns I before it subtract, C_JJ -= L_JI (L_JI D_I)',
// factors its diagonal block, and solves for the rows below. dInv receives the
// reciprocals of d; w is scratch of n x n entries, which receives L D below the strips.
func ldlBlock(n int, a []float64, lda int, d, dInv []float64, sign []int8, eps, delta float64, w []float64) int {
	nr := columnsPerStrip()
	replaced := 0
	for j := 0; j < n; j += ldlColumns {
		nb := min(ldlColumns, n-j)
		diagonal := a[j+j*lda:]
		if j > 0 {
			syrkStrips(nil, nb, j, a[j:], lda, w[j:], n, diagonal, lda)
		}
		replaced += ldlUnblocked(nb, diagonal, lda, d[j:], dInv[j:], sign[j:], eps, delta)
		i := j + nb
		for c := j; c < i && i < n; c += nr {
			trsmStrip(min(nr, i-c), n-i, c, w[i:], n, a[c:], lda, a[i+c*lda:], lda, dInv[c:])
		}
	}
	return replaced
}

// ldlUnblocked factors a block of at most ldlColumns columns one by one. dInv receives the
// reciprocals of d.
func ldlUnblocked(n int, a []float64, lda int, d, dInv []float64, sign []int8, eps, delta float64) int {
	replaced := 0
	var col [ldlColumns]float64
	for j := range n {
		aj := a[j*lda : j*lda+n]
		dj, s := aj[j], float64(sign[j])
		if s*dj <= eps {
			dj = s * max(delta, -s*dj)
			replaced++
		}
		d[j] = dj
		inv := 1 / dj
		dInv[j] = inv
		for i := j + 1; i < n; i++ {
			col[i&7] = aj[i] // d_j L_ij
			aj[i] *= inv
		}
		for k := j + 1; k < n; k++ {
			ak := a[k*lda : k*lda+n]
			ljk := col[k&7]
			for i := k; i < n; i++ {
				ak[i] = fma(-aj[i], ljk, ak[i])
			}
		}
	}
	return replaced
}
