package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is what the kernels need to know of an instruction set. The kernels name
// vector registers by number, so that their use can be read off the formulas.
type isa struct {
	suffix  string
	lanes   int // doubles in a vector register
	vectors int // vectors in a block of rows of a strip
	columns int // columns of a strip
	v       []VecPhysical
	k       []OpmaskPhysical // AVX-512 only
	table   Mem              // AVX2 only: masks of 4 + 4 + 4 lanes
}

// AVX2: 3 vectors x 4 columns = 12 accumulators, 3 registers for A, 1 for B.
func avx2() isa {
	s := isa{
		suffix: "AVX2", lanes: 4, vectors: 3, columns: 4,
		v: []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15},
	}
	// Lanes [0, r) are the four words from word 4-r on; lanes [j, 4) those from word 8-j on.
	s.table = GLOBL("lanes", attr.RODATA|attr.NOPTR)
	for i := range 12 {
		word := ^uint64(0)
		if i >= 4 && i < 8 {
			word = 0
		}
		DATA(8*i, U64(word))
	}
	return s
}

// AVX-512: 3 vectors x 8 columns = 24 accumulators, 3 registers for A, 5 for B.
func avx512() isa {
	return isa{
		suffix: "AVX512", lanes: 8, vectors: 3, columns: 8,
		v: []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
			Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31},
		k: []OpmaskPhysical{K1, K2},
	}
}

func (s isa) bytes() int { return 8 * s.lanes }

// mask selects lanes of a vector: nil all of them, else an opmask (AVX-512) or a
// vector register (AVX2).
type mask Register

// The masks that a kernel may hold at a time.
const (
	edge = iota // the rows that exist
	tri         // of these, the rows on and below the diagonal
)

func (s isa) mask(which int) mask {
	if s.k != nil {
		return s.k[which]
	}
	return s.v[11-which] // free where at most 8 accumulators and 4 temporaries are in use
}

// firstLanes sets m to the first r lanes, r >= 0; AVX-512 takes r > lanes for all
// of them, AVX2 needs r <= lanes. It clobbers t.
func (s isa) firstLanes(m mask, r, t Register) {
	if s.k != nil {
		n := GP64()
		MOVQ(U32(uint32(s.lanes)), n)
		CMPQ(r, n)
		CMOVQLT(r, n)
		MOVQ(I32(-1), t)
		BZHIQ(n, t, t)
		KMOVW(t.(GP).As32(), m)
		return
	}
	p := GP64()
	LEAQ(s.table.Offset(32), p)
	MOVQ(r, t)
	NEGQ(t)
	VMOVUPD(Mem{Base: p, Index: t, Scale: 8}, m)
}

// firstOf sets masks of one vector after the other to the first r lanes of all, 1 <= r <= their
// lanes. It clobbers r and t.
func (s isa) firstOf(masks []mask, r, t Register) {
	if s.k != nil {
		s.firstLanes(masks[0], r, t)
		return
	}
	n := GP64()
	for _, m := range masks {
		MOVQ(U32(uint32(s.lanes)), n)
		CMPQ(r, n)
		CMOVQLT(r, n)
		s.firstLanes(m, n, t)
		SUBQ(n, r)
	}
}

// fromLane sets m to the lanes j and up, of those in and (nil: of all).
func (s isa) fromLane(m mask, j int, and mask, t Register) {
	if s.k != nil {
		MOVL(U32(0xff<<j&0xff), t.(GP).As32())
		KMOVW(t.(GP).As32(), m)
		if and != nil {
			KANDW(and, m, m)
		}
		return
	}
	VMOVUPD(s.table.Offset(8*(8-j)), m)
	if and != nil {
		VANDPD(and, m, m)
	}
}

// load reads a vector; lanes outside m are zero and their memory is not touched.
func (s isa) load(from Mem, m mask, to Register) {
	switch {
	case m == nil:
		VMOVUPD(from, to)
	case s.k != nil:
		VMOVUPD_Z(from, m, to)
	default:
		VMASKMOVPD(from, m, to)
	}
}

// store writes the lanes in m and leaves the other memory alone.
func (s isa) store(from Register, m mask, to Mem) {
	switch {
	case m == nil:
		VMOVUPD(from, to)
	case s.k != nil:
		VMOVUPD(from, m, to)
	default:
		VMASKMOVPD(from, m, to)
	}
}

func (s isa) zero(r Register) {
	if s.k != nil {
		VPXORQ(r, r, r) // VXORPD on 512 bits would need AVX512DQ
		return
	}
	VXORPD(r, r, r)
}

// sum adds the lanes of v into lane 0 of its low half. It clobbers t.
func (s isa) sum(v, t VecPhysical) {
	if s.k != nil {
		VEXTRACTF64X4(U8(1), v, t.AsY())
		VADDPD(t.AsY(), v.AsY(), v.AsY())
	}
	VEXTRACTF128(U8(1), v.AsY(), t.AsX())
	VADDPD(t.AsX(), v.AsX(), v.AsX())
	VHADDPD(v.AsX(), v.AsX(), v.AsX())
}
