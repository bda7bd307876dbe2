package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// bits is the sum of what all kernels answer on windows of all sizes of registers and caches. It is that of every
// level, and of every architecture with fused products, as each entry is one sum in one order.
const bits = "d315ae4a278b2b4f"

// TestLevelsGiveTheSameBits: the answers are the same to the last bit at every level.
func TestLevelsGiveTheSameBits(t *testing.T) {
	if raceEnabled {
		t.Skip("the same kernels, slowly")
	}
	if fma(1+0x1p-30, 1+0x1p-30, -1-0x1p-29) == 0 {
		t.Skip("products are rounded")
	}
	eachLevel(t, func(t *testing.T) { require.Equal(t, bits, kernelBits()) })
}

// kernelBits runs every kernel on the same numbers and sums up the bits of the answers.
func kernelBits() string {
	hash := sha256.New()
	add := func(v ...float64) {
		for _, x := range v {
			hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	rng := rand.New(rand.NewPCG(41, 42))
	for _, s := range append(gridOfSizes(rng), [3]int{261, 70, 520}, [3]int{70, 300, 300}) {
		m, n, k := s[0], s[1], s[2]
		a, b, c := newWindow(rng, m, k), newWindow(rng, n, k), newWindow(rng, m, n)
		GemmNT(m, n, k, a.slice(), a.ld, b.slice(), b.ld, c.slice(), c.ld)
		add(c.all...)

		c = newWindow(rng, m, m)
		SyrkNT(m, k, a.slice(), a.ld, a.slice(), a.ld, c.slice(), c.ld)
		add(c.all...)

		l, x, w, dInv := unitLower(rng, n), newWindow(rng, m, n), newWindow(rng, m, n), newWindow(rng, n, 1)
		Within{}.SolvePanel(m, n, l.slice(), l.ld, dInv.slice(), x.slice(), x.ld, w.slice(), w.ld)
		add(x.all...)
		add(w.all...)
		TrsmRightLT(m, n, l.slice(), l.ld, x.slice(), x.ld)
		add(x.all...)

		v, u := newWindow(rng, n, 1), newWindow(rng, m, 1)
		TrsvN(n, l.slice(), l.ld, v.slice())
		add(v.all...)
		TrsvT(n, l.slice(), l.ld, v.slice())
		add(v.all...)
		v = newWindow(rng, n, 1)
		GemvN(m, n, x.slice(), x.ld, v.slice(), u.slice())
		add(u.all...)
		GemvT(m, n, x.slice(), x.ld, u.slice(), v.slice())
		add(v.all...)

		for i := range u.rows { // products too small for numbers have a sign
			u.set(i, 0, math.Ldexp(u.at(i, 0), -800))
		}
		GemvT(m, 1, u.slice(), u.ld, u.slice(), dInv.slice())
		add(dInv.all...)
		if m > 0 {
			add(Dot(u.slice()[:m], u.slice()))
			Axpy(1.7, x.slice()[:m], u.slice())
			add(u.all...)
		}

		q, d := quasiDefinite(rng, m), make([]float64, m)
		sign := signs(m)
		for i := range sign {
			if rng.IntN(5) == 0 {
				sign[i] = -sign[i] // pivots that are replaced
			}
		}
		LDL(m, q.slice(), q.ld, d, sign, 1e-3, 0.5)
		add(d...)
		for j := range q.cols {
			for i := j + 1; i < q.rows; i++ {
				add(q.at(i, j))
			}
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}
