package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gemvColumns is how many columns a matrix-vector kernel takes at a time.
const gemvColumns = 4

// columnsLoop writes the loop over groups of 4 columns, then over single ones.
// body gets the addresses of the group's columns in the current rows.
func columnsLoop(n, a, lda, x Register, body func(group int)) {
	for _, group := range []int{gemvColumns, 1} {
		top, out := fmt.Sprintf("by%d", group), fmt.Sprintf("after%d", group)
		Label(top)
		CMPQ(n, U8(group))
		JLT(LabelRef(out))
		body(group)
		LEAQ(Mem{Base: a, Index: lda, Scale: uint8(group)}, a)
		ADDQ(U8(8*group), x)
		SUBQ(U8(group), n)
		JMP(LabelRef(top))
		Label(out)
	}
}

// columnAt is the address of column j of a group at the running pointer.
func columnAt(pa, lda, lda3 Register, j, disp int) Mem {
	switch j {
	case 0:
		return Mem{Base: pa, Disp: disp}
	case 3:
		return Mem{Base: pa, Index: lda3, Scale: 1, Disp: disp}
	}
	return Mem{Base: pa, Index: lda, Scale: uint8(j), Disp: disp}
}

// gemvN writes y -= A x.
func gemvN(s isa) {
	TEXT("gemvN"+s.suffix, attr.NOSPLIT, "func(m, n int, a *float64, lda int, x, y *float64)")
	Doc(fmt.Sprintf("gemvN%s is gemvNGo.", s.suffix))
	Pragma("noescape")
	m, n, a, lda, x, y := arg("m"), arg("n"), arg("a"), arg("lda"), arg("x"), arg("y")
	pa, py, rows, t, lda3 := GP64(), GP64(), GP64(), GP64(), GP64()
	SHLQ(U8(3), lda)
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, lda3)
	columnsLoop(n, a, lda, x, func(group int) {
		for j := range group {
			VBROADCASTSD(Mem{Base: x, Disp: 8 * j}, s.v[j])
		}
		MOVQ(a, pa)
		MOVQ(y, py)
		rowsLoop(s, fmt.Sprintf("n%d", group), m, rows, t, []Register{pa, py}, func(v int, mk mask) {
			for i := range v {
				yi := s.v[4+i]
				at := Mem{Base: py, Disp: i * s.bytes()}
				s.load(at, mk, yi)
				for j := range group {
					aij := columnAt(pa, lda, lda3, j, i*s.bytes())
					if mk != nil {
						s.load(aij, mk, s.v[8])
						VFNMADD231PD(s.v[8], s.v[j], yi)
						continue
					}
					VFNMADD231PD(aij, s.v[j], yi)
				}
				s.store(yi, mk, at)
			}
		})
	})
	VZEROUPPER()
	RET()
}

// gemvT writes y -= A'x.
func gemvT(s isa) {
	TEXT("gemvT"+s.suffix, attr.NOSPLIT, "func(m, n int, a *float64, lda int, x, y *float64)")
	Doc(fmt.Sprintf("gemvT%s is gemvTGo.", s.suffix))
	Pragma("noescape")
	m, n, a, lda, x, y := arg("m"), arg("n"), arg("a"), arg("lda"), arg("x"), arg("y")
	pa, px, rows, t, lda3 := GP64(), GP64(), GP64(), GP64(), GP64()
	SHLQ(U8(3), lda)
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, lda3)
	columnsLoop(n, a, lda, y, func(group int) {
		acc := func(j, i int) VecPhysical { return s.v[2*j+i] } // two sums a column
		for j := range group {
			s.zero(acc(j, 0))
			s.zero(acc(j, 1))
		}
		MOVQ(a, pa)
		MOVQ(x, px)
		rowsLoop(s, fmt.Sprintf("t%d", group), m, rows, t, []Register{pa, px}, func(v int, mk mask) {
			for i := range v {
				xi := s.v[8+i]
				s.load(Mem{Base: px, Disp: i * s.bytes()}, mk, xi)
				for j := range group {
					aij := columnAt(pa, lda, lda3, j, i*s.bytes())
					if mk != nil {
						s.load(aij, mk, s.v[10])
						VFMADD231PD(s.v[10], xi, acc(j, i))
						continue
					}
					VFMADD231PD(aij, xi, acc(j, i))
				}
			}
		})
		for j := range group {
			VADDPD(acc(j, 1), acc(j, 0), acc(j, 0))
			s.sum(acc(j, 0), s.v[8])
			at := Mem{Base: y, Disp: 8 * j}
			VMOVSD(at, X9)
			VSUBSD(acc(j, 0).AsX(), X9, X9)
			VMOVSD(X9, at)
		}
	})
	VZEROUPPER()
	RET()
}

// rowsLoop writes the loop over m rows: two vectors at a time, then one, then one
// under a mask. The pointers advance by the rows done.
func rowsLoop(s isa, label string, m, rows, t Register, pointers []Register, body func(v int, mk mask)) {
	MOVQ(m, rows)
	for v := 2; v >= 1; v-- {
		top, out := fmt.Sprintf("%s_rows%d", label, v), fmt.Sprintf("%s_out%d", label, v)
		Label(top)
		CMPQ(rows, U8(v*s.lanes))
		JLT(LabelRef(out))
		body(v, nil)
		for _, p := range pointers {
			ADDQ(U32(v*s.bytes()), p)
		}
		SUBQ(U8(v*s.lanes), rows)
		JMP(LabelRef(top))
		Label(out)
	}
	TESTQ(rows, rows)
	JEQ(LabelRef(label + "_done"))
	s.firstLanes(s.mask(edge), rows, t)
	body(1, s.mask(edge))
	Label(label + "_done")
}

// scale writes y = a x.
func scale(s isa) {
	TEXT("scale"+s.suffix, attr.NOSPLIT, "func(n int, a float64, x, y *float64)")
	Doc(fmt.Sprintf("scale%s computes y = a x for n entries; y may be x.", s.suffix))
	Pragma("noescape")
	n, x, y := arg("n"), arg("x"), arg("y")
	Load(Param("a"), X0)
	VBROADCASTSD(X0, s.v[0])
	rowsLoop(s, "scale", n, GP64(), GP64(), []Register{x, y}, func(v int, mk mask) {
		for i := range v {
			s.load(Mem{Base: x, Disp: i * s.bytes()}, mk, s.v[1+i])
			VMULPD(s.v[0], s.v[1+i], s.v[1+i])
			s.store(s.v[1+i], mk, Mem{Base: y, Disp: i * s.bytes()})
		}
	})
	VZEROUPPER()
	RET()
}
