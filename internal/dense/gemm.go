package dense

import "github.com/conetune/conetune/internal/stop"

// Cache blocks of a product too large for the caches (Goto and van de Geijn, section 4):
// a block of A stays in the second-level cache, a strip of B in the first.
const (
	blockDepth = 256 // columns of A and B at a time: a strip of B of 8 x 256 is 16 kB
	blockRows  = 240 // rows of A at a time, a multiple of every rowsPerBlock: 240 x 256 is 480 kB
)

// Sizes at which another way becomes faster, found with the benchmarks of this
// package on a CPU with 2 MB of second-level cache.
const (
	tinyWork = 8       // m*n*k up to which a plain loop beats the call of a strip
	packFrom = 1 << 17 // entries of A from which it is packed: 1 MB
	packCols = 64      // columns of C that pay for packing A

	packFromLower = 1 << 16 // the same for SyrkNT, with more than blockRows rows
)

// Tiny says whether GemmNT adds up products of such sizes one by one, and not by strips.
func Tiny(m, n, k int) bool { return int64(m)*int64(n)*int64(k) <= tinyWork }

// GemmNT computes C -= A B', with A m x k, B n x k, C m x n.
func GemmNT(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	Within{}.GemmNT(m, n, k, a, lda, b, ldb, c, ldc)
}

// GemmNT is the function of that name.
func (w Within) GemmNT(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m <= 0 || n <= 0 || k <= 0 {
		return
	}
	checkMatrix("A", m, k, a, lda)
	checkMatrix("B", n, k, b, ldb)
	checkMatrix("C", m, n, c, ldc)
	if parts := w.shares(m, n, k); parts > 1 {
		w.shareGemmNT(parts, m, n, k, a, lda, b, ldb, c, ldc)
		return
	}
	switch size := int64(m) * int64(n) * int64(k); {
	case size <= tinyWork && !w.Strips:
		gemmTiny(m, n, k, a, lda, b, ldb, c, ldc)
	case m*k < packFrom || n < packCols:
		s := w.Stop
		if size < longWork {
			s = nil
		}
		for l := 0; l < k; l += blockDepth {
			gemmStrips(s, m, n, min(blockDepth, k-l), a[l*lda:], lda, b[l*ldb:], ldb, c, ldc)
		}
	default:
		gemmPacked(w.Stop, m, n, k, a, lda, b, ldb, c, ldc)
	}
}

// shareGemmNT cuts the longer side of C.
func (w Within) shareGemmNT(parts, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m >= n {
		w.share(parts, m, rowsPerBlock(), false, func(in Within, from, to int) {
			in.GemmNT(to-from, n, k, a[from:], lda, b, ldb, c[from:], ldc)
		})
		return
	}
	w.share(parts, n, columnsPerStrip(), false, func(in Within, from, to int) {
		in.GemmNT(m, to-from, k, a, lda, b[from:], ldb, c[from*ldc:], ldc)
	})
}

// gemmTiny is GemmNT for a handful of entries.
func gemmTiny(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	for l := range k {
		al := a[l*lda : l*lda+m]
		for j := range n {
			bjl := b[j+l*ldb]
			cj := c[j*ldc:]
			cj = cj[:len(al)]
			for i, v := range al {
				cj[i] -= float64(v * bjl)
			}
		}
	}
}

// gemmStrips is GemmNT strip by strip, without packing.
func gemmStrips(s *stop.Stop, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	nr, mr := columnsPerStrip(), rowsPerBlock()
	for i := 0; i < m; i += stripRows {
		mb := min(stripRows, m-i)
		for j := 0; j < n; j += nr {
			if s != nil && s.Reached(cost(mb, nr, k)) {
				return
			}
			gemmStrip(min(nr, n-j), mb, k, a[i:], lda, mr, b[j:], ldb, c[i+j*ldc:], ldc, 0)
		}
	}
}

// gemmPacked is GemmNT with blocks of A, and strips of B, copied to where they are
// contiguous: large leading dimensions spread them over many pages and over few
// sets of the caches.
func gemmPacked(s *stop.Stop, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	w := getWorkspace()
	nr, mr := columnsPerStrip(), rowsPerBlock()
	for l := 0; l < k; l += blockDepth {
		kb := min(blockDepth, k-l)
		pb := pack(&w.b, nr, n, kb, b[l*ldb:], ldb)
		for i := 0; i < m; i += blockRows {
			mb := min(blockRows, m-i)
			if s != nil && s.Reached(cost(mb, n, kb)) {
				break
			}
			pa := pack(&w.a, mr, mb, kb, a[i+l*lda:], lda)
			packedStrips(mb, n, kb, pa, pb, c[i:], ldc)
		}
	}
	w.release()
}

// packedStrips is GemmNT on packed operands.
func packedStrips(m, n, k int, pa, pb []float64, c []float64, ldc int) {
	nr, mr := columnsPerStrip(), rowsPerBlock()
	for j := 0; j < n; j += nr {
		gemmStrip(min(nr, n-j), m, k, pa, mr, mr*k, pb[j*k:], nr, c[j*ldc:], ldc, 0)
	}
}

// SyrkNT computes the lower triangle of C -= A B', with A and B n x k and C n x n.
// The caller guarantees that A B' is symmetric (B = A diag(d)). Entries of C
// above the diagonal are not touched.
func SyrkNT(n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	Within{}.SyrkNT(n, k, a, lda, b, ldb, c, ldc)
}

// SyrkNT is the function of that name.
func (in Within) SyrkNT(n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if n <= 0 || k <= 0 {
		return
	}
	checkMatrix("A", n, k, a, lda)
	checkMatrix("B", n, k, b, ldb)
	checkMatrix("C", n, n, c, ldc)
	if parts := in.shares(n, n, k) / 2; parts > 1 {
		// of the columns of C: a part has a triangle and what is below
		in.share(parts, n, columnsPerStrip(), true, func(in Within, from, to int) {
			in.SyrkNT(to-from, k, a[from:], lda, b[from:], ldb, c[from+from*ldc:], ldc)
			if to < n {
				in.GemmNT(n-to, to-from, k, a[to:], lda, b[from:], ldb, c[to+from*ldc:], ldc)
			}
		})
		return
	}
	s := in.Stop
	if n <= blockRows || n*k <= packFromLower {
		if int64(n)*int64(n)*int64(k) < longWork {
			s = nil
		}
		for l := 0; l < k; l += blockDepth {
			syrkStrips(s, n, min(blockDepth, k-l), a[l*lda:], lda, b[l*ldb:], ldb, c, ldc)
		}
		return
	}
	w := getWorkspace()
	nr, mr := columnsPerStrip(), rowsPerBlock()
	for l := 0; l < k; l += blockDepth {
		kb := min(blockDepth, k-l)
		pb := pack(&w.b, nr, n, kb, b[l*ldb:], ldb)
		// Rows by blocks: the part left of the diagonal block, then the block.
		for i := 0; i < n; i += blockRows {
			mb := min(blockRows, n-i)
			if s != nil && s.Reached(cost(mb, i+mb, kb)) {
				break
			}
			if i > 0 {
				pa := pack(&w.a, mr, mb, kb, a[i+l*lda:], lda)
				packedStrips(mb, i, kb, pa, pb, c[i:], ldc)
			}
			pa := pack(&w.a, mb, mb, kb, a[i+l*lda:], lda) // strips start at any row: one panel
			for j := 0; j < mb; j += nr {
				gemmStrip(min(nr, mb-j), mb-j, kb, pa[j:], mb, mr, pb[(i+j)*kb:], nr, c[i+j+(i+j)*ldc:], ldc, 1)
			}
		}
	}
	w.release()
}

// syrkStrips is SyrkNT strip by strip, each from its diagonal down, without packing.
func syrkStrips(s *stop.Stop, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	nr, mr := columnsPerStrip(), rowsPerBlock()
	for j := 0; j < n; j += nr {
		if s != nil && s.Reached(cost(n-j, nr, k)) {
			return
		}
		gemmStrip(min(nr, n-j), n-j, k, a[j:], lda, mr, b[j:], ldb, c[j+j*ldc:], ldc, 1)
	}
}
