//go:build scs_go || osqp_go

package libc

import (
	"math"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemory(t *testing.T) {
	tls := New()
	defer tls.Close()
	p := Xcalloc(tls, 3, 8)
	require.NotZero(t, p)
	assert.Equal(t, make([]byte, 24), bytes(p, 24))
	Xmemset(tls, p, 5, 20)
	p = Xrealloc(tls, p, 1000)
	assert.Equal(t, []byte{5, 5, 0, 0}, bytes(p+18, 4))
	Xmemmove(tls, p+1, p, 20) // what overlaps
	assert.Equal(t, []byte{5, 5, 5, 0, 0}, bytes(p+18, 5))
	Xmemset(tls, p, 0, 1000)
	assert.Equal(t, make([]byte, 1000), bytes(p, 1000))
	Xfree(tls, p)
	Xfree(tls, 0)
	assert.NotZero(t, Xmalloc(tls, 0))
	assert.Zero(t, Xmalloc(tls, math.MaxUint64))
	assert.Zero(t, Xcalloc(tls, math.MaxUint64/2, 3))
	assert.NotZero(t, Xrealloc(tls, 0, 8))
}

func TestArena(t *testing.T) {
	tls := New()
	defer tls.Close()
	a := NewArena(tls)
	defer a.Free()
	p := a.Floats([]float64{1, 2, 3})
	assert.Equal(t, []float64{1, 2, 3}, Floats(p, 3))
	assert.NotZero(t, a.Floats(nil))
	assert.Zero(t, a.Optional(nil))
	assert.Equal(t, [2]int32{7, -8}, *(*[2]int32)(Pointer(a.Integers([]int{7, -8}))))
	s := NewIn[struct{ a, b int64 }](a)
	s.b = 4
	assert.EqualValues(t, 4, *(*int64)(Pointer(Address(s) + 8)))
	assert.False(t, a.Failed())
	assert.Zero(t, a.Bytes(math.MaxInt))
	assert.True(t, a.Failed())
}

// TestStack has variables of calls within calls, large ones among them, that keep what is in them.
func TestStack(t *testing.T) {
	tls := New()
	defer tls.Close()
	var call func(depth int)
	call = func(depth int) {
		size := 8 << (depth % 18)
		p := tls.Alloc(size)
		defer tls.Free(size)
		Xmemset(tls, p, int32(depth), uint64(size))
		if depth < 200 {
			call(depth + 1)
		}
		for _, b := range bytes(p, uint64(size)) {
			if b != byte(depth) {
				t.Fatal(depth, b)
			}
		}
	}
	for range 3 {
		call(0)
	}
}

func TestTexts(t *testing.T) {
	tls := New()
	defer tls.Close()
	p := Xcalloc(tls, 100, 1)
	defer Xfree(tls, p)
	Xstrcpy(tls, p, p)
	assert.Empty(t, Text(p))
	copy(bytes(p+50, 6), "text")
	Xstrcpy(tls, p, p+50)
	Xstrcat(tls, p, p+52)
	assert.Equal(t, "textxt", Text(p))
	assert.EqualValues(t, 6, Xstrlen(tls, p))
}

func TestSort(t *testing.T) {
	tls := New()
	defer tls.Close()
	values := [][2]int32{{3, 0}, {1, 1}, {2, 2}, {1, 3}, {3, 4}, {1, 5}}
	p := Xcalloc(tls, uint64(len(values)), 8)
	defer Xfree(tls, p)
	in := unsafe.Slice((*[2]int32)(Pointer(p)), len(values))
	copy(in, values)
	compare := func(_ *TLS, a, b uintptr) int32 { return *(*int32)(Pointer(a)) - *(*int32)(Pointer(b)) }
	Xqsort(tls, p, uint64(len(values)), 8, *(*uintptr)(unsafe.Pointer(&compare)))
	assert.Equal(t, [][2]int32{{1, 1}, {1, 3}, {1, 5}, {2, 2}, {3, 0}, {3, 4}}, in)
}

func TestWish(t *testing.T) {
	tls := New()
	defer tls.Close()
	assert.EqualValues(t, Run, Xconetune_wish(tls))
	var flag int32
	tls.Wish = &flag
	atomic.StoreInt32(&flag, Finish)
	assert.EqualValues(t, Finish, Xconetune_wish(tls))
}

func TestClock(t *testing.T) {
	tls := New()
	defer tls.Close()
	p := Xcalloc(tls, 4, 8)
	defer Xfree(tls, p)
	Xclock_gettime(tls, 1, p)
	time.Sleep(2 * time.Millisecond)
	Xclock_gettime(tls, 1, p+16)
	v := *(*[4]int64)(Pointer(p))
	assert.GreaterOrEqual(t, (v[2]-v[0])*1e9+v[3]-v[1], int64(2e6))
	assert.Less(t, v[3], int64(1e9))
}

// TestMathematics compares with package math, whose powers of extreme numbers are good to 14 digits.
func TestMathematics(t *testing.T) {
	tls := New()
	defer tls.Close()
	for _, x := range []float64{-700, -1.5, -1e-9, 0, 1e-300, 0.3, 1, 2.5, 700} {
		assert.InEpsilon(t, math.Exp(x), Xexp(tls, x), 1e-15)
		if x > 0 {
			assert.InDelta(t, math.Log(x), Xlog(tls, x), 1e-13)
			assert.InEpsilon(t, math.Pow(x, 0.7), Xpow(tls, x, 0.7), 1e-13)
		}
	}
	assert.Equal(t, -1.5, Xfmod(tls, -7.5, 3))
	assert.EqualValues(t, []int32{0, 0, 1}, []int32{Xisfinite(tls, math.Inf(1)), Xisfinite(tls, math.NaN()),
		Xisfinite(tls, 1)})
	assert.EqualValues(t, []int32{1, 0}, []int32{Xisnan(tls, math.NaN()), Xisnan(tls, 0)})
	assert.EqualValues(t, []int32{0, 1}, []int32{Xisless(tls, 1, math.NaN()), Xisless(tls, 0, 1)})
}
