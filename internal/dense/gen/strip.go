package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// kind is what a strip does with its product.
type kind int

const (
	gemm kind = iota // C -= A B'
	trsm             // Y = (C - A B') L^{-T}, to the column after A and, scaled, to C
)

// prefetchFrom is the k from which the time of a block covers the prefetch of its part of C.
const prefetchFrom = 32

// stripRegs are the general registers of a strip. The leading dimensions are in bytes.
type stripRegs struct {
	m, k, a, lda, b, ldb, c, ldc Register
	tri                          Register // gemm only
	dInv                         Register // trsm only
	pa, pb, pc, count, t         Register // scratch
}

// strip writes the strip kernel: for each number of columns nr a loop over blocks
// of rows, each block with its accumulators in registers.
func strip(s isa, kd kind) {
	if kd == gemm {
		TEXT("gemmStrip"+s.suffix, attr.NOSPLIT,
			"func(nr, m, k int, a *float64, lda, step int, b *float64, ldb int, c *float64, ldc, tri int)")
		Doc(fmt.Sprintf("gemmStrip%s is gemmStripGo in blocks of %d rows, nr <= %d.", s.suffix, s.lanes*s.vectors, s.columns))
	} else {
		TEXT("trsmStrip"+s.suffix, attr.NOSPLIT,
			"func(nr, m, k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int, dInv *float64)")
		Doc(fmt.Sprintf("trsmStrip%s is trsmStripGo for nr <= %d.", s.suffix, s.columns))
	}
	Pragma("noescape")
	r := stripRegs{
		m: arg("m"), k: arg("k"), a: arg("a"), lda: arg("lda"), b: arg("b"), ldb: arg("ldb"), c: arg("c"), ldc: arg("ldc"),
		pa: GP64(), pb: GP64(), pc: GP64(), count: GP64(), t: GP64(),
	}
	if kd == gemm {
		r.tri = arg("tri")
	}
	if kd == trsm {
		r.dInv = arg("dInv")
	}
	for _, ld := range []Register{r.lda, r.ldb, r.ldc} {
		SHLQ(U8(3), ld)
	}
	Load(Param("nr"), r.t)
	for nr := s.columns; nr > 1; nr-- {
		CMPQ(r.t, U8(nr))
		JEQ(LabelRef(fmt.Sprintf("columns%d", nr)))
	}
	for nr := 1; nr <= s.columns; nr++ {
		stripColumns(s, kd, nr, r)
	}
}

// arg loads a parameter into a register of its own.
func arg(name string) Register { return Load(Param(name), GP64()) }

// stripColumns writes the loop over the rows for nr columns. With AVX-512 every
// block is one of 1 to 3 vectors, the last one masked. With AVX2 the mask takes a
// register, which 3 x 4 accumulators leave not free: blocks of 3 whole vectors, one
// of 2 if more than 2 remain, and one of 1 or 2, the last one masked.
func stripColumns(s isa, kd kind, nr int, r stripRegs) {
	label := func(what string) string { return fmt.Sprintf("%s%d", what, nr) }
	advance := func(rows int) {
		if kd == gemm && rows == s.vectors*s.lanes {
			Load(Param("step"), r.t)
			LEAQ(Mem{Base: r.a, Index: r.t, Scale: 8}, r.a)
		} else {
			ADDQ(U32(8*rows), r.a)
		}
		ADDQ(U32(8*rows), r.c)
		SUBQ(U8(rows), r.m)
	}
	if nr > 1 {
		Label(label("columns"))
	}
	if s.k == nil {
		for v := s.vectors; v >= 2; v-- {
			name := fmt.Sprintf("whole%d_", v)
			rows := v * s.lanes
			Label(label(name))
			CMPQ(r.m, U8(rows))
			if v == s.vectors {
				JLT(LabelRef(label("after" + name)))
			} else {
				JLE(LabelRef(label("after" + name)))
			}
			stripBlock(s, kd, nr, v, nil, label("block"+name), r)
			advance(rows)
			if v == s.vectors {
				JMP(LabelRef(label(name)))
			}
			Label(label("after" + name))
		}
		TESTQ(r.m, r.m)
		JEQ(LabelRef(label("end")))
	}
	most := s.vectors
	if s.k == nil {
		most = 2
	}
	for v := 1; v <= most; v++ {
		name := fmt.Sprintf("edge%d_", v)
		if v < most {
			CMPQ(r.m, U8(v*s.lanes))
			JGT(LabelRef(label(fmt.Sprintf("over%d_", v))))
		}
		Label(label(name))
		last := r.m // rows in the last vector, or more
		if v > 1 {
			last = r.t
			LEAQ(Mem{Base: r.m, Disp: -(v - 1) * s.lanes}, r.t)
		}
		s.firstLanes(s.mask(edge), last, r.count)
		stripBlock(s, kd, nr, v, s.mask(edge), label("block"+name), r)
		if s.k != nil && v == s.vectors {
			advance(v * s.lanes)
			CMPQ(r.m, U8((v-1)*s.lanes))
			JGT(LabelRef(label(name)))
			CMPQ(r.m, U8(s.lanes))
			JGT(LabelRef(label("edge2_")))
			TESTQ(r.m, r.m)
			JGT(LabelRef(label("edge1_")))
		}
		if v < most {
			JMP(LabelRef(label("end")))
			Label(label(fmt.Sprintf("over%d_", v)))
		}
	}
	Label(label("end"))
	VZEROUPPER()
	RET()
}

// stripBlock writes one block: v vectors of rows by nr columns, the last vector
// under the mask m. Registers: accumulators first, then three for A, the rest for B
// and for temporaries.
func stripBlock(s isa, kd kind, nr, v int, m mask, label string, r stripRegs) {
	acc := func(j, i int) VecPhysical { return s.v[j*v+i] }
	base := s.vectors * s.columns
	if m != nil && s.k == nil {
		base = 12 // 11 and 10 are masks
	}
	free := s.v[base:]
	va, vb := free[:v], free[v:]
	maskOf := func(i int) mask {
		if i == v-1 {
			return m
		}
		return nil
	}
	for j := range nr {
		for i := range v {
			s.zero(acc(j, i))
		}
	}
	MOVQ(r.a, r.pa)
	MOVQ(r.b, r.pb)
	MOVQ(r.k, r.count)
	if kd == gemm && v == s.vectors && nr == s.columns {
		prefetch(s, nr, v, label, r)
	}
	if kd == trsm {
		TESTQ(r.count, r.count)
		JEQ(LabelRef(label + "_done"))
	}

	Label(label + "_k")
	for i := range v {
		s.load(Mem{Base: r.pa, Disp: i * s.bytes()}, maskOf(i), va[i])
	}
	for j := range nr {
		bj := Mem{Base: r.pb, Disp: 8 * j}
		if s.k != nil && v == 1 {
			VFMADD231PD_BCST(bj, va[0], acc(j, 0))
			continue
		}
		t := vb[j%len(vb)]
		VBROADCASTSD(bj, t)
		for i := range v {
			VFMADD231PD(va[i], t, acc(j, i))
		}
	}
	ADDQ(r.lda, r.pa)
	ADDQ(r.ldb, r.pb)
	DECQ(r.count)
	JNE(LabelRef(label + "_k"))

	if kd == trsm {
		Label(label + "_done")
		stripSolve(s, nr, v, acc, maskOf, free, label, r)
		return
	}
	// C -= accumulators; on the diagonal only rows >= column, which are in vector 0.
	TESTQ(r.tri, r.tri)
	JNE(LabelRef(label + "_tri"))
	subtract := func(triangle bool) {
		MOVQ(r.c, r.pc)
		for j := range nr {
			for i := range v {
				mi := maskOf(i)
				if triangle && i == 0 {
					and := mi
					mi = s.mask(tri)
					if s.k == nil && v == s.vectors {
						mi = free[3] // here 10 and 11 are accumulators, and no mask is in use
					}
					if j > 0 || and != nil {
						s.fromLane(mi, j, and, r.t)
					} else {
						mi = nil
					}
				}
				at := Mem{Base: r.pc, Disp: i * s.bytes()}
				t := free[i]
				s.load(at, mi, t)
				VSUBPD(acc(j, i), t, t)
				s.store(t, mi, at)
			}
			if j < nr-1 {
				ADDQ(r.ldc, r.pc)
			}
		}
	}
	subtract(false)
	JMP(LabelRef(label + "_next"))
	Label(label + "_tri")
	subtract(true)
	XORQ(r.tri, r.tri)
	Label(label + "_next")
}

// prefetch asks for the block of C where k is large enough to hide its way from memory.
func prefetch(s isa, nr, v int, label string, r stripRegs) {
	CMPQ(r.k, U8(prefetchFrom))
	JLT(LabelRef(label + "_k"))
	MOVQ(r.c, r.pc)
	for j := range nr {
		for disp := 0; disp < v*s.bytes(); disp += 64 {
			PREFETCHT0(Mem{Base: r.pc, Disp: disp})
		}
		PREFETCHT0(Mem{Base: r.pc, Disp: v*s.bytes() - 8}) // a column may start anywhere in its line
		if j < nr-1 {
			ADDQ(r.ldc, r.pc)
		}
	}
}

// stripSolve ends a trsm block: with pb at the unit lower triangle L of the strip, the
// sums go on over its own columns, acc_l += Y_j L_lj, and Y_j = C_j - acc_j, all in
// registers. So no entry depends on how wide a strip is. Y goes to pa, the column after
// the last one of A, and Y diag(dInv) to C unless dInv is nil.
func stripSolve(s isa, nr, v int, acc func(j, i int) VecPhysical, maskOf func(int) mask, free []VecPhysical,
	label string,
	r stripRegs,
) {
	nextColumn := func(j int, ld, p Register) {
		if j < nr-1 {
			ADDQ(ld, p)
		}
	}
	MOVQ(r.c, r.pc)
	for j := range nr {
		for i := range v {
			t := free[i]
			s.load(Mem{Base: r.pc, Disp: i * s.bytes()}, maskOf(i), t)
			VSUBPD(acc(j, i), t, acc(j, i))
		}
		nextColumn(j, r.ldc, r.pc)
		for l := j + 1; l < nr; l++ {
			t := free[l%len(free)]
			VBROADCASTSD(Mem{Base: r.pb, Disp: 8 * l}, t)
			for i := range v {
				VFMADD231PD(acc(j, i), t, acc(l, i))
			}
		}
		for i := range v {
			s.store(acc(j, i), maskOf(i), Mem{Base: r.pa, Disp: i * s.bytes()})
		}
		nextColumn(j, r.ldb, r.pb)
		nextColumn(j, r.lda, r.pa)
	}
	TESTQ(r.dInv, r.dInv)
	JEQ(LabelRef(label + "_unscaled"))
	MOVQ(r.c, r.pc)
	for j := range nr {
		t := free[0]
		VBROADCASTSD(Mem{Base: r.dInv, Disp: 8 * j}, t)
		for i := range v {
			VMULPD(acc(j, i), t, acc(j, i))
			s.store(acc(j, i), maskOf(i), Mem{Base: r.pc, Disp: i * s.bytes()})
		}
		nextColumn(j, r.ldc, r.pc)
	}
	Label(label + "_unscaled")
}
