package native

import (
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/planted"
)

// triplets collects the entries of a sparse matrix; entries of one place add up.
type triplets struct{ entries []triplet }

type triplet struct {
	i, j int
	v    float64
}

func (t *triplets) add(i, j int, v float64) { t.entries = append(t.entries, triplet{i, j, v}) }

func (t *triplets) csc(m, n int) *sparse.CSC {
	var all backends.Triplets
	for _, e := range t.entries {
		all.Add(e.i, e.j, e.v)
	}
	out, err := all.CSC(m, n)
	if err != nil {
		panic(err)
	}
	return out
}

// Programs of tens of variables with all that planted programs have: rows, columns and objectives of many sizes, rows
// and columns that are there twice, no interior, directions that cost nothing, proofs. None is answered wrongly, and
// most are answered.
func TestHardProblems(t *testing.T) {
	run := planted.Run{Backends: []backends.ConicBackend{backendtest.Open(t, "native")}, Mode: planted.Large,
		Scales: []int{0, 3, 5}, First: 1, N: 50}
	for _, fault := range run.Do(t.Context()).Faults(0.93, run.N) {
		t.Error(fault)
	}
}

func solveChecked(t *testing.T, p *backends.Problem) *backends.Solution {
	t.Helper()
	return backendtest.Solve(t, backendtest.Open(t, "native"), p, backends.Options{})
}

// normals are n normally distributed numbers.
func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range n {
		v[i] = rng.NormFloat64()
	}
	return v
}
