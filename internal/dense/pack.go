package dense

import "sync"

// workspace holds the buffers of one call: grown on demand, kept in a pool, so that
// calls allocate nothing in the steady state.
type workspace struct {
	a, b []float64         // packed blocks of A and strips of B
	ld   []float64         // L D of the panel that LDL is working on
	dInv [ldlPanel]float64 // reciprocals of its D
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

func getWorkspace() *workspace { return workspaces.Get().(*workspace) }

func (w *workspace) release() { workspaces.Put(w) }

// resize returns n entries of *buf with arbitrary content.
func resize(buf *[]float64, n int) []float64 {
	if cap(*buf) < n {
		*buf = make([]float64, n)
	}
	return (*buf)[:n]
}

// pack copies an m x k matrix to *buf as panels of h rows, one after the other, each
// h x k column by column. The rows that the last panel lacks are left arbitrary.
func pack(buf *[]float64, h, m, k int, a []float64, lda int) []float64 {
	to := resize(buf, (m+h-1)/h*h*k)
	panel := h * k
	for l := range k {
		col := a[l*lda : l*lda+m]
		at := l * h
		if h == 8 {
			for len(col) >= 8 {
				*(*[8]float64)(to[at:]) = *(*[8]float64)(col)
				col = col[8:]
				at += panel
			}
		}
		for len(col) > 0 {
			n := copy(to[at:at+h], col)
			col = col[n:]
			at += panel
		}
	}
	return to
}
