package backends

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
)

// definiteFrom is the order from which definite looks; below, eigenvalues cost nothing.
const definiteFrom = 64

// definite says that the matrix whose scaled lower triangle is s is positive definite as far as its
// factors A = L D L' tell, which take a hundredth of the time of the eigenvalues: with
// all of D positive, A + E is definite for some |E| <= c n u |A|, u the unit roundoff (Higham,
// Accuracy and Stability of Numerical Algorithms, 2002, theorem 10.7), an error as small as that of an eigenvalue.
// False says nothing.
func definite(s []float64) bool {
	n := PSDOrder(len(s))
	if n < definiteFrom {
		return false
	}
	size := dense.MaxAbs(s)
	if !(size <= math.MaxFloat64) {
		return false
	}
	a, d, sign := make([]float64, n*n), make([]float64, n), make([]int8, n)
	k := 0
	for j := range n {
		sign[j] = 1
		a[j+j*n] = s[k] / size
		for i, v := range s[k+1 : k+n-j] {
			a[j+1+i+j*n] = v / size * (1 / math.Sqrt2)
		}
		k += n - j
	}
	if dense.LDL(n, a, n, d, sign, 0, 1) > 0 {
		return false
	}
	for _, v := range d {
		if !(v > 0 && v <= math.MaxFloat64) {
			return false
		}
	}
	return true
}
