//go:build scs_go || osqp_go

package libc

import (
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
)

// What [TLS].Wish may hold.
const (
	Run    = 0 // the solve goes on
	Stop   = 1 // it gives up
	Finish = 2 // it returns the point that it has
)

// TLS is what C calls a thread: a stack for the variables that C code takes the addresses of, and how its solve is
// stopped. It is for one goroutine at a time.
type TLS struct {
	*libc.TLS
	// Wish is looked at in each iteration; nil means Run. Other goroutines change it with package atomic.
	Wish *int32
	// Limit is the address of the bound on iterations that a solve with Finish makes 1.
	Limit uintptr
}

// New returns a thread. Close frees its stack.
func New() *TLS { return &TLS{TLS: libc.NewTLS()} }

// Xconetune_wish returns what Wish holds.
func Xconetune_wish(t *TLS) int32 {
	if t.Wish == nil {
		return Run
	}
	return atomic.LoadInt32(t.Wish)
}

// Xconetune_limit returns Limit.
func Xconetune_limit(t *TLS) uintptr { return t.Limit }

// Pointer is the Go pointer to the memory of C at an address. It is not inlined because the compiler of Go 1.26 fails
// on copies of constant length between places whose pointers it sees to be numbers.
//
//go:noinline
func Pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// bytes is the memory of C from an address on.
func bytes(p uintptr, n uint64) []byte { return unsafe.Slice((*byte)(Pointer(p)), n) }
