//go:build (scs_go || osqp_go) && !((linux || darwin || windows || freebsd) && (amd64 || arm64))

package libc

import (
	"math"
	"sync"
	"unsafe"
)

// memory holds what C has allocated, by address: Go frees nothing that is in it, and moves nothing.
var memory = struct {
	sync.Mutex
	blocks map[uintptr][]uint64
}{blocks: map[uintptr][]uint64{}}

// Xmalloc returns n bytes, 0 if that is more than there can be.
func Xmalloc(_ *TLS, n uint64) uintptr {
	if n > math.MaxInt32 {
		return 0
	}
	block := make([]uint64, n/8+1)
	p := uintptr(unsafe.Pointer(&block[0]))
	memory.Lock()
	defer memory.Unlock()
	memory.blocks[p] = block
	return p
}

// Xcalloc returns n times size bytes that are zero, 0 if that is more than there can be.
func Xcalloc(t *TLS, n, size uint64) uintptr {
	if size > 0 && n > math.MaxInt32/size {
		return 0
	}
	return Xmalloc(t, n*size)
}

// Xrealloc moves what is at p, nothing if that is 0, to a place of n bytes.
func Xrealloc(t *TLS, p uintptr, n uint64) uintptr {
	to := Xmalloc(t, n)
	if p == 0 || to == 0 {
		return to
	}
	memory.Lock()
	old := uint64(len(memory.blocks[p])) * 8
	memory.Unlock()
	Xmemmove(t, to, p, min(n, old))
	Xfree(t, p)
	return to
}

// Xfree frees what is at p, if that is not 0.
func Xfree(_ *TLS, p uintptr) {
	memory.Lock()
	defer memory.Unlock()
	delete(memory.blocks, p)
}

// thread has the stack, in pieces that stay where they are.
type thread struct {
	pieces []piece
	top    int // the piece in use
}

type piece struct {
	at         uintptr
	used, size int
}

const pieceSize = 1 << 16

func newThread() thread { return thread{} }

// Close frees the stack.
func (t *thread) Close() {
	for _, p := range t.pieces {
		Xfree(nil, p.at)
	}
	t.pieces = nil
}

// Alloc takes n bytes from the stack; Free gives them back, the last ones first.
func (t *thread) Alloc(n int) uintptr {
	n = (n + 15) &^ 15
	for ; t.top < len(t.pieces); t.top++ {
		if p := &t.pieces[t.top]; p.size-p.used >= n {
			p.used += n
			return p.at + uintptr(p.used-n)
		}
	}
	size := max(n, pieceSize)
	t.pieces = append(t.pieces, piece{at: Xmalloc(nil, uint64(size)), used: n, size: size})
	t.top = len(t.pieces) - 1
	return t.pieces[t.top].at
}

// Free gives the n bytes back that were taken last.
func (t *thread) Free(n int) {
	for t.pieces[t.top].used == 0 {
		t.top--
	}
	t.pieces[t.top].used -= (n + 15) &^ 15
}

// Xexp is e to the x.
func Xexp(_ *TLS, x float64) float64 { return math.Exp(x) }

// Xlog is the natural logarithm.
func Xlog(_ *TLS, x float64) float64 { return math.Log(x) }

// Xpow is x to the y.
func Xpow(_ *TLS, x, y float64) float64 { return math.Pow(x, y) }
