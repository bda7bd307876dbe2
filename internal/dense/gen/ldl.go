package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ldlSmall writes the LDL' of a block of at most 8 columns, one column a register
// (AVX-512 only). Lanes above the diagonal hold anything and are not stored.
func ldlSmall(s isa) {
	TEXT("ldlSmall"+s.suffix, attr.NOSPLIT,
		"func(n int, a *float64, lda int, d, dInv *float64, sign *int8, eps, delta float64) int")
	Doc(fmt.Sprintf("ldlSmall%s is ldlUnblocked with dInv not empty, 1 <= n <= 8.", s.suffix))
	Pragma("noescape")
	n, a, lda, d, dInv, sign := arg("n"), arg("a"), arg("lda"), arg("d"), arg("dInv"), arg("sign")
	pa, t, replaced := GP64(), GP64(), GP64()
	col := func(j int) VecPhysical { return s.v[j] }
	lane := func(k int) VecPhysical { return s.v[8+k] } // indices that broadcast lane k
	l, w, pivot, inv, sg, one := Z16, Z17, X18, X19, X20, X21
	eps, delta := X22, X23
	SHLQ(U8(3), lda)
	VMOVSD(argAt("eps"), eps)
	VMOVSD(argAt("delta"), delta)
	MOVQ(U64(0x3ff0000000000000), t)
	VMOVQ(t, one)
	XORL(replaced.(GP).As32(), replaced.(GP).As32())
	rows := s.mask(edge)
	s.firstLanes(rows, n, t)
	for k := 1; k < s.lanes; k++ {
		MOVQ(U32(uint32(k)), t)
		VPBROADCASTQ(t, lane(k))
	}
	MOVQ(a, pa)
	for j := range s.lanes {
		s.zero(col(j))
	}
	for j := range s.lanes {
		s.fromLane(s.mask(tri), j, rows, t)
		s.load(Mem{Base: pa}, s.mask(tri), col(j))
		if j < s.lanes-1 {
			CMPQ(n, U8(j+1))
			JEQ(LabelRef("loaded"))
			ADDQ(lda, pa)
		}
	}
	Label("loaded")
	for j := range s.lanes {
		VALIGNQ(U8(j), col(j), col(j), pivot.AsZ())
		MOVBQSX(Mem{Base: sign, Disp: j}, t)
		VXORPD(X24, X24, X24)
		VCVTSI2SDQ(t, X24, sg)
		VMULSD(pivot, sg, X24)
		VUCOMISD(X24, eps) // eps against sign d: below, and so is a NaN, if the pivot is good
		JCS(LabelRef(fmt.Sprintf("good%d", j)))
		VXORPD(X25, X25, X25)
		VSUBSD(X24, X25, X25) // -sign d
		VMAXSD(delta, X25, X25)
		VMULSD(sg, X25, pivot)
		INCQ(replaced)
		Label(fmt.Sprintf("good%d", j))
		VMOVSD(pivot, Mem{Base: d, Disp: 8 * j})
		VDIVSD(pivot, one, inv)
		VMOVSD(inv, Mem{Base: dInv, Disp: 8 * j})
		VBROADCASTSD(inv, inv.AsZ())
		VMULPD(inv.AsZ(), col(j), l)
		s.fromLane(s.mask(tri), j, rows, t)
		s.store(l, s.mask(tri), Mem{Base: a})
		if j == s.lanes-1 {
			break
		}
		CMPQ(n, U8(j+1))
		JEQ(LabelRef("end"))
		ADDQ(lda, a)
		for k := j + 1; k < s.lanes; k++ {
			VPERMPD(col(j), lane(k), w) // d_j L_kj
			VFNMADD231PD(l, w, col(k))
		}
	}
	Label("end")
	Store(replaced, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// argAt is the address of a parameter, for instructions that take it from memory.
func argAt(name string) Op {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err) // a name that the signature does not have
	}
	return p.Addr
}
