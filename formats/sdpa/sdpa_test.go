package sdpa

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
)

func TestLayouts(t *testing.T) {
	want := must.Of(Read("testdata/small.dat-s"))(t)
	for name, text := range map[string]string{
		"over lines": "2\n3\n2\n-2 1 = sizes\n2\n1\n0 1\n2 1 -1 1 1 1 1 1.0\n2 1 2 2 1 0 2 1 1 .25 0 2 2 2 .5 1 2 1 1 1 2 " +
			"2 2 2 1\n0 3 1 1 1 1 3 1 1 1 2 3 1 1 1",
		"zeros": "2=m\n3=b\n2 -2 1\n2 1\n0 1 2 1 -1\n0 1 1 1 0\n1 1 1 1 1\n2 1 2 2 1\n0 2 1 1 .25\n0 2 1 2 0\n0 2 2 " +
			"2 .5\n1 2 1 1 1\n2 2 2 2 1\n0 3 1 1 1\n1 3 1 1 1\n2 3 1 1 1\n\n",
		"punctuation": "* c\n\n2\r\n3\r\n{+2,-2,1}\r\n(2,1)\r\n{0,1,1,2,-1}\n1 1 1 1 1\n2 1 2 2 1\n0 2 1 1 .25\n0 2 2 2 " +
			".5\n1 2 1 1 1\n2 2 2 2 1\n0 3 1 1 1\n1 3 1 1 1\n2 3 1 1 1\n",
	} {
		got, err := Decode(name, strings.NewReader(text))
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

func TestErrors(t *testing.T) {
	head := "2\n1\n2\n1 1\n"
	format.Errors(t, []readertest.Wrong{
		{"", 0, "the file ends where the number of variables is expected"},
		{"\"only\n* comments\n", 2, "the file ends"},
		{"two\n", 1, `"two" found`},
		{"-2\n", 1, "expected a whole number"},
		{"99999999999\n", 1, "expected a whole number"},
		{"2\n0\n", 2, "at least one"},
		{"2\n2\n3\n", 3, "the size of block 2"},
		{"2\n1\n0\n", 3, "the size of block 1"},
		{"2\n1\nx\n", 3, "the size of block 1"},
		{"2\n1\n2\n1\n", 4, "the objective is expected"},
		{"2\n1\n2\n1 x\n", 4, `objective of variable 2: "x"`},
		{head + "3 1 1 1 1\n", 5, `the matrix of an entry: "3" found, expected a whole number from 0 to 2`},
		{head + "1 2 1 1 1\n", 5, "the block of an entry"},
		{head + "1 0 1 1 1\n", 5, "from 1 to 1"},
		{head + "1 1 3 1 1\n", 5, "the row of an entry"},
		{head + "1 1 1 -1 1\n", 5, "the column of an entry"},
		{head + "1 1 1 1\n", 5, "the file ends where the value of an entry"},
		{head + "1 1 1 1 nan\n", 5, "expected a finite number"},
		{head + "1 1 1 1.5 3\n", 5, "the column of an entry"},
		{"2\n1\n-2\n1 1\n1 1 1 2 1\n", 5, "off the diagonal"},
		{head + "1 1 1 2 1\n1 1 2 1 1\n", 0, "mirror image"},
	})
}

// random makes a model with entries in random places.
func random(rng *rand.Rand) *Model {
	m := &Model{C: make([]float64, rng.IntN(4))}
	for k := range m.C {
		m.C[k] = rng.NormFloat64()
	}
	for range 1 + rng.IntN(4) {
		n := 1 + rng.IntN(4)
		if rng.IntN(3) == 0 {
			n = -n
		}
		m.Blocks = append(m.Blocks, n)
	}
	for range rng.IntN(30) {
		b := rng.IntN(len(m.Blocks))
		i := rng.IntN(abs(m.Blocks[b]))
		j := rng.IntN(i + 1)
		if m.Blocks[b] < 0 {
			j = i
		}
		m.Entries = append(m.Entries, cbf.Entry{Index: [4]int{rng.IntN(len(m.C) + 1), b, i, j},
			Value: rng.NormFloat64()})
	}
	return m
}

// TestConic compares b - Ax with the matrices, summed entry by entry, and A'z with
// scalar products of matrices.
func TestConic(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		m := random(rng)
		p := must.Of(m.Conic())(t)
		require.NoError(t, p.Problem.Validate())
		x, z := make([]float64, len(m.C)), make([]float64, len(p.Problem.B))
		for _, v := range [][]float64{x, z} {
			for k := range v {
				v[k] = rng.NormFloat64()
			}
		}
		got := p.Solution(&backends.Solution{X: x, Z: z})

		s, atz := slices.Clone(p.Problem.B), make([]float64, len(x))
		raw := p.Problem.A.RawMatrix()
		for j := range x {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				s[raw.Ind[k]] -= raw.Data[k] * x[j]
				atz[j] += raw.Data[k] * z[raw.Ind[k]]
			}
		}
		// The blocks in the order of the cones, diagonal ones first.
		place, at := map[[3]int]int{}, 0
		for _, diagonal := range []bool{true, false} {
			for k, n := range m.Blocks {
				for j := range abs(n) {
					for i := j; i < abs(n); i++ {
						if diagonal == (n < 2) && (n > 0 || i == j) {
							place[[3]int{k, i, j}] = at
							at++
						}
					}
				}
			}
		}
		require.Len(t, s, at)
		want, inner := make([]float64, at), make([]float64, len(x)+1) // <F_i, Y>
		for _, e := range m.Entries {
			matrix, k, i, j := e.Index[0], e.Index[1], e.Index[2], e.Index[3]
			y, factor := got.MatrixY[k][i], -1.0
			if n := m.Blocks[k]; n > 0 {
				y = got.MatrixY[k][lower(i, j, n)]
			}
			if matrix > 0 {
				factor = x[matrix-1]
			}
			weight := 1.0
			if i != j {
				weight = math.Sqrt2
			}
			want[place[[3]int{k, i, j}]] += weight * factor * e.Value
			inner[matrix] += weight * weight * e.Value * y
		}
		assert.InDeltaSlice(t, want, s, 1e-12)
		for j := range atz {
			assert.InDelta(t, inner[j+1], -atz[j], 1e-12)
		}
		assert.InDelta(t, inner[0], -floats.Dot(p.Problem.B, z), 1e-12, "the dual objective is <F_0, Y>")
	}
}

// lower counts the lower triangle column by column: n, n-1, .. entries are in those before j.
func lower(i, j, n int) int { return j*(2*n-j-1)/2 + i }

func TestConicTooLarge(t *testing.T) {
	for _, blocks := range [][]int{{30000}, {math.MaxInt32}, {-cbf.MaxSize, -1}, {20000, 20000}} {
		_, err := (&Model{Blocks: blocks}).Conic()
		assert.ErrorContains(t, err, "too large")
	}
	_, err := (&Model{Blocks: []int{2}, Entries: []cbf.Entry{{Index: [4]int{0, 0, 1, 0}, Value: math.MaxFloat64}}}).Conic()
	assert.ErrorContains(t, err, "too large")
}

// TestKnownOptimum checks the point and the multipliers that small.dat-s states.
func TestKnownOptimum(t *testing.T) {
	m := must.Of(Read("testdata/small.dat-s"))(t)
	p := must.Of(m.Conic())(t)
	assert.Equal(t, []backends.Cone{backends.Nonnegative(3), backends.PSD(2)}, p.Problem.Cones)
	x := []float64{1 / math.Sqrt2, math.Sqrt2}
	z := []float64{0, 0, 0, 2, -2, 1} // -sqrt 2 off the diagonal, times sqrt 2
	s := []float64{x[0] - .25, x[1] - .5, x[0] + x[1] - 1, x[0], math.Sqrt2, x[1]}
	residuals, primal, dual := backends.Recheck(p.Problem, x, s, z)
	assert.Less(t, residuals.Max(), 1e-12)
	assert.InDelta(t, 2*math.Sqrt2, primal, 1e-12)
	assert.InDelta(t, 2*math.Sqrt2, dual, 1e-12)
	y := p.Solution(&backends.Solution{X: x, S: s, Z: z}).MatrixY
	assert.InDeltaSlice(t, []float64{2, -math.Sqrt2, 1}, y[0], 1e-12)
	assert.Equal(t, []float64{0, 0}, y[1])
}

var format = readertest.Program[Model]{
	Ending: ".dat-s", Read: read, Decode: Decode, Open: Read,
	Conic: func(m *Model) (*backends.Problem, error) {
		p, err := m.Conic()
		if err != nil {
			return nil, err
		}
		return p.Problem, nil
	},
	Files: []string{"testdata/small.dat-s"},
	Texts: []string{
		"1\n1\n2\n1\n1 1 1 2 1\n1 1 2 1 1\n", "1\n1\n23000\n1\n0 1 1 1 1\n", "1\n1\n-2147483647\n1\n",
		"0\n3\n2147483647 1 -1\n",
		"\"comment\n2 =mDIM\n2 =nBLOCK\n(2, -3)\n{1.0,2.0}\n0 1 1 2 1.5D0\n1 2 3 3 1e308\n1 2 3 3 1e308\n",
		"1\n\f1\n\u00a02\v\n1\n\ufeff\n1 1 1 1\u00a01\n", "2147483647\n1\n1\n1\n",
	},
}

func FuzzRead(f *testing.F) { format.Fuzz(f) }
