package dense

// trsvBlock is the number of unknowns that TrsvN and TrsvT solve by plain loops
// before a matrix-vector product carries them to the others.
const trsvBlock = 8

// TrsvN overwrites x with L^{-1} x, L n x n unit lower triangular.
func TrsvN(n int, l []float64, ldl int, x []float64) { Within{}.TrsvN(n, l, ldl, x) }

// TrsvN is the function of that name.
func (in Within) TrsvN(n int, l []float64, ldl int, x []float64) {
	if n <= 0 {
		return
	}
	checkMatrix("L", n, n, l, ldl)
	checkVector("x", n, x)
	s := in.forSolve(n)
	for j := 0; j < n; j += trsvBlock {
		nb := min(trsvBlock, n-j)
		if s != nil && s.Reached((n-j)*trsvBlock) {
			return
		}
		xb := x[j : j+nb]
		for c := range nb {
			lc := l[j+(j+c)*ldl:][:len(xb)]
			xc := xb[c]
			for r := c + 1; r < len(xb); r++ {
				xb[r] -= float64(lc[r] * xc)
			}
		}
		if below := n - j - nb; below > 0 {
			gemvN(below, nb, l[j+nb+j*ldl:], ldl, xb, x[j+nb:])
		}
	}
}

// TrsvT overwrites x with L^{-T} x, L n x n unit lower triangular.
func TrsvT(n int, l []float64, ldl int, x []float64) { Within{}.TrsvT(n, l, ldl, x) }

// TrsvT is the function of that name.
func (in Within) TrsvT(n int, l []float64, ldl int, x []float64) {
	if n <= 0 {
		return
	}
	checkMatrix("L", n, n, l, ldl)
	checkVector("x", n, x)
	s := in.forSolve(n)
	for j := (n - 1) / trsvBlock * trsvBlock; j >= 0; j -= trsvBlock {
		nb := min(trsvBlock, n-j)
		if s != nil && s.Reached((n-j)*trsvBlock) {
			return
		}
		xb := x[j : j+nb]
		if below := n - j - nb; below > 0 {
			gemvT(below, nb, l[j+nb+j*ldl:], ldl, x[j+nb:], xb)
		}
		for c := nb - 1; c >= 0; c-- {
			lc := l[j+(j+c)*ldl:][:len(xb)]
			sum := xb[c]
			for r := len(xb) - 1; r > c; r-- { // the newest one last: the others need not wait for it
				sum -= float64(lc[r] * xb[r])
			}
			xb[c] = sum
		}
	}
}
