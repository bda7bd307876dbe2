package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// columnsLoop writes the loop over groups of columns, then over single ones.
// body gets the number of the group's columns.
func columnsLoop(n, a, lda, lda3, x Register, most int, body func(group int)) {
	for _, group := range []int{most, 1} {
		top, out := fmt.Sprintf("by%d", group), fmt.Sprintf("after%d", group)
		Label(top)
		CMPQ(n, U8(group))
		JLT(LabelRef(out))
		body(group)
		if group == 3 {
			ADDQ(lda3, a)
		} else {
			LEAQ(Mem{Base: a, Index: lda, Scale: uint8(group)}, a)
		}
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
	columnsLoop(n, a, lda, lda3, x, 4, func(group int) {
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

// sumLanes is how many sums of every 16th product stand behind an entry of A'x, at each level.
const sumLanes = 16

// gemvT writes y -= A'x. A column has sumLanes sums: rows 16 at a time, then eight to the
// first eight sums, then the rest to them under masks, whose other lanes are zeros.
func gemvT(s isa) {
	TEXT("gemvT"+s.suffix, attr.NOSPLIT, "func(m, n int, a *float64, lda int, x, y *float64)")
	Doc(fmt.Sprintf("gemvT%s is gemvTGo.", s.suffix))
	Pragma("noescape")
	m, n, a, lda, x, y := arg("m"), arg("n"), arg("a"), arg("lda"), arg("x"), arg("y")
	pa, px, rows, t, lda3 := GP64(), GP64(), GP64(), GP64(), GP64()
	sums := sumLanes / s.lanes // registers of sums for a column
	most := 4
	if s.k == nil {
		most = 3 // 12 registers of sums
	}
	xi, ai := s.v[most*sums], s.v[most*sums+1]
	masks := []mask{s.v[14], s.v[15]} // AVX2: of the first two vectors of a column
	if s.k != nil {
		masks = []mask{s.mask(edge)}
	}
	SHLQ(U8(3), lda)
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, lda3)
	columnsLoop(n, a, lda, lda3, y, most, func(group int) {
		acc := func(j, i int) VecPhysical { return s.v[sums*j+i] }
		for j := range group {
			for i := range sums {
				s.zero(acc(j, i))
			}
		}
		MOVQ(a, pa)
		MOVQ(x, px)
		product := func(i int, mk mask) {
			s.load(Mem{Base: px, Disp: i * s.bytes()}, mk, xi)
			for j := range group {
				aij := columnAt(pa, lda, lda3, j, i*s.bytes())
				if mk != nil {
					s.load(aij, mk, ai)
					VFMADD231PD(ai, xi, acc(j, i))
					continue
				}
				VFMADD231PD(aij, xi, acc(j, i))
			}
		}
		label := fmt.Sprintf("t%d", group)
		MOVQ(m, rows)
		for _, vectors := range []int{sums, sums / 2} {
			wholeRows(s, fmt.Sprintf("%s_rows%d", label, vectors), vectors, rows, []Register{pa, px}, func() {
				for i := range vectors {
					product(i, nil)
				}
			})
		}
		TESTQ(rows, rows)
		JEQ(LabelRef(label + "_done"))
		s.firstOf(masks, rows, t)
		for i, mk := range masks {
			product(i, mk)
		}
		Label(label + "_done")
		for j := range group {
			for half := sums / 2; half >= 1; half /= 2 {
				for i := range half {
					VADDPD(acc(j, i+half), acc(j, i), acc(j, i))
				}
			}
			s.sum(acc(j, 0), xi)
			at := Mem{Base: y, Disp: 8 * j}
			VMOVSD(at, ai.AsX())
			VSUBSD(acc(j, 0).AsX(), ai.AsX(), ai.AsX())
			VMOVSD(ai.AsX(), at)
		}
	})
	VZEROUPPER()
	RET()
}

// wholeRows writes the loop over so many whole vectors of rows at a time. The pointers
// advance by the rows done.
func wholeRows(s isa, label string, vectors int, rows Register, pointers []Register, body func()) {
	Label(label)
	CMPQ(rows, U8(vectors*s.lanes))
	JLT(LabelRef(label + "_out"))
	body()
	for _, p := range pointers {
		ADDQ(U32(vectors*s.bytes()), p)
	}
	SUBQ(U8(vectors*s.lanes), rows)
	JMP(LabelRef(label))
	Label(label + "_out")
}

// rowsLoop writes the loop over m rows: two vectors at a time, then one, then one
// under a mask. The pointers advance by the rows done.
func rowsLoop(s isa, label string, m, rows, t Register, pointers []Register, body func(v int, mk mask)) {
	MOVQ(m, rows)
	for v := 2; v >= 1; v-- {
		wholeRows(s, fmt.Sprintf("%s_rows%d", label, v), v, rows, pointers, func() { body(v, nil) })
	}
	TESTQ(rows, rows)
	JEQ(LabelRef(label + "_done"))
	s.firstLanes(s.mask(edge), rows, t)
	body(1, s.mask(edge))
	Label(label + "_done")
}
