package cbf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
)

func TestErrors(t *testing.T) {
	head := "VER\n2\nOBJSENSE\nMIN\n"
	vars := head + "VAR\n3 1\nF 3\nCON\n2 1\nL+ 2\n"
	format.Errors(t, []readertest.Wrong{
		{"", 0, "expected VER first"},
		{"# nothing\n", 0, "expected VER first"},
		{"VER\n1\n", 0, "no OBJSENSE"},
		{"VAR\n0 0\n", 1, "before VER"},
		{"VER 1\n", 1, "line of its own"},
		{"VER\n", 1, "the file ends where the version is expected"},
		{"VER\n5\n", 2, "expected 1 to 4"},
		{"VER\n1\nVER\n1\n", 3, "twice"},
		{"VER\n1\nOBJSENSE\nmin\n", 4, "expected MIN or MAX"},
		{"VER\n1\nFOO\n", 3, `"FOO" found`},
		{head + "CHANGE\n", 5, "not supported"},
		{head + "VAR\n3\n", 6, "1 words found"},
		{head + "VAR\n3 1\nF 4\n", 7, "more dimensions than 3"},
		{head + "VAR\n3 1\nF 2\n", 7, "3 were announced"},
		{head + "VAR\n3 1\nX 3\n", 7, `unknown cone "X"`},
		{head + "VAR\n3 1\n@0:POW 3\n", 7, "0 entries of POWCONES"},
		{head + "VAR\n3 1\n@x:FOO 3\n", 7, "unknown cone"},
		{head + "VAR\n-3 1\n", 6, "a whole number from 0"},
		{head + "VAR\n4 1\nEXP 4\n", 7, "expected 3"},
		{head + "VAR\n1 1\nQR 1\n", 7, "at least 2"},
		{head + "VAR\n0 1\nQ 0\n", 7, "at least 1"},
		{head + "VAR\n2 1\nSVECPSD 2\n", 7, "n(n+1)/2"},
		{head + "POWCONES\n1 2\n2\n1\n1\nVAR\n1 1\n@0:POW 1\n", 12, "at least 2"},
		{head + "POWCONES\n1 2\n2\n1\n0\n", 9, "positive"},
		{head + "POWCONES\n1 2\n2\n1\n1e-300\n", 9, "too far from the others"},
		{head + "POWCONES\n1 2\n1\n1\n", 8, "1 powers fewer"},
		{head + "POWCONES\n1 2\n3\n", 7, "3 powers"},
		{head + "VAR\n0 0\nPOWCONES\n0 0\n", 7, "comes after VAR"},
		{vars + "INT\n1\n2\n", 12, "integer variables are not supported"},
		{vars + "OBJACOORD\n1\n3 1\n", 13, "variable 3 found, but there are 3"},
		{vars + "OBJACOORD\n1\n-1 1\n", 13, "from 0"},
		{vars + "OBJACOORD\n2\n0 1\n", 13, "the file ends"},
		{vars + "BCOORD\n1\n2 1\n", 13, "constraint 2"},
		{vars + "ACOORD\n1\n0 0 x\n", 13, `"x" found, expected a number`},
		{vars + "ACOORD\n1\n0 0\n", 13, "2 words found where constraint, variable and value"},
		{vars + "ACOORD\n1\n0 0 1 1\n", 13, "4 words"},
		{vars + "ACOORD\n1\n0 0 inf\n", 13, "finite number"},
		{vars + "PSDVAR\n1\n0\n", 13, "order 0"},
		{vars + "FCOORD\n1\n0 0 0 0 1\n", 13, "matrix variable 0"},
		{vars + "PSDCON\n1\n2\nHCOORD\n1\n0 0 2 0 1\n", 16, "row 2"},
		{vars + "PSDCON\n1\n2\nDCOORD\n1\n0 0 0\n", 16, "3 words"},
	})
	_, err := Decode("fine.cbf", strings.NewReader(vars+"INT\n0\n"))
	assert.NoError(t, err)
}

// random makes a model with all kinds of cones.
func random(rng *rand.Rand) *Model {
	m := &Model{Version: 4, Maximize: rng.IntN(2) == 0, Constant: rng.NormFloat64()}
	cones := func() (list []Cone) {
		for range rng.IntN(6) {
			c := Cone{Kind: []string{Free, Nonnegative, Nonpositive, Zero, SecondOrder, RotatedSecond, Exponential,
				DualExponential,
				Power, DualPower, PSDVector, GeometricMean, DualGeometricMean}[rng.IntN(13)], Dim: 1 + rng.IntN(4)}
			switch c.Kind {
			case RotatedSecond, GeometricMean, DualGeometricMean:
				c.Dim++
			case Exponential, DualExponential, PSDVector:
				c.Dim = 3
			case Power, DualPower:
				for range 1 + rng.IntN(4) {
					c.Powers = append(c.Powers, rng.Float64()+.1)
				}
				c.Dim = len(c.Powers) + rng.IntN(3)
			}
			list = append(list, c)
		}
		return list
	}
	m.Var, m.Con = cones(), cones()
	for range rng.IntN(3) {
		m.PSDVar = append(m.PSDVar, 1+rng.IntN(3))
	}
	for range rng.IntN(3) {
		m.PSDCon = append(m.PSDCon, 1+rng.IntN(3))
	}
	n, rows := m.Dims()
	place := func(order int) (i, j int) {
		i, j = rng.IntN(order), rng.IntN(order)
		return max(i, j), min(i, j)
	}
	for range rng.IntN(12) {
		if v := rng.NormFloat64(); n > 0 {
			m.Objective = append(m.Objective, Entry{[4]int{rng.IntN(n)}, v})
			if rows > 0 {
				m.A = append(m.A, Entry{[4]int{rng.IntN(rows), rng.IntN(n)}, v})
			}
			if len(m.PSDCon) > 0 {
				k := rng.IntN(len(m.PSDCon))
				i, j := place(m.PSDCon[k])
				m.H = append(m.H, Entry{[4]int{k, rng.IntN(n), i, j}, v})
			}
		}
		if rows > 0 {
			m.B = append(m.B, Entry{[4]int{rng.IntN(rows)}, rng.NormFloat64()})
		}
		if len(m.PSDVar) > 0 {
			k := rng.IntN(len(m.PSDVar))
			i, j := place(m.PSDVar[k])
			m.ObjectiveMatrix = append(m.ObjectiveMatrix, Entry{[4]int{k, i, j}, rng.NormFloat64()})
			if rows > 0 {
				m.F = append(m.F, Entry{[4]int{rng.IntN(rows), k, i, j}, rng.NormFloat64()})
			}
		}
		if len(m.PSDCon) > 0 {
			k := rng.IntN(len(m.PSDCon))
			i, j := place(m.PSDCon[k])
			m.D = append(m.D, Entry{[4]int{k, i, j}, rng.NormFloat64()})
		}
	}
	return m
}

// What is written is read as the same model, of public instances, too.
func TestEncode(t *testing.T) {
	files := must.Of(filepath.Glob("testdata/*.cbf"))(t)
	if dir := os.Getenv("CONETUNE_INSTANCES"); dir != "" {
		files = append(files, must.Of(filepath.Glob(filepath.Join(dir, "conic", "*.cbf.gz")))(t)...)
	}
	require.NotEmpty(t, files)
	for _, file := range files {
		m := must.Of(Read(file))(t)
		require.Equal(t, m, format.Again(t, m.Encode), file)
	}
}

// Programs of known optimum have it as models of this format, too, with the constant of their objective.
func TestFromConic(t *testing.T) {
	for file, optimum := range map[string]float64{"small": 6 - 2*math.Sqrt2, "cones": math.E + 1} {
		m := must.Of(Read("testdata/" + file + ".cbf"))(t)
		p := must.Of(m.Conic())(t)
		sign := 1.0
		if m.Maximize {
			sign = -1
		}
		copied := format.Again(t, must.Of(FromConic(p.Problem, sign*m.Constant))(t).Encode)
		s, got := solve(t, copied)
		require.Equal(t, backends.Optimal, s.Status)
		require.InDelta(t, optimum, sign*got.Objective, 1e-6, file)
	}

	// Boxes, and a quadratic objective: see the file of package qps for the optimum.
	q := must.Of(qps.Read("../qps/testdata/small.qps"))(t)
	p := q.Conic()
	s, got := solve(t, format.Again(t, must.Of(FromConic(p.Problem, q.Constant))(t).Encode))
	require.Equal(t, backends.Optimal, s.Status)
	require.InDeltaSlice(t, []float64{1, 1.5}, got.X[:2], 1e-5)
	require.InDelta(t, 1.5+1.5*1.5-2-3+1, got.Objective, 1e-6)

	// min (x + y)^2 - 3 (x + y) + z^2/2 - 2 z + 3 has the value -5/4 at x + y = 3/2, z = 2, where x = y is in the cones
	// x^0.3 y^0.7 >= |z - 2|, the dual of that, and x^0.5 y^0.5 >= |z - 2|.
	dense := func(r, c int, v ...float64) *sparse.CSC { return matrices.Compress(mat.NewDense(r, c, v)) }
	problem := &backends.Problem{
		P: dense(3, 3, 2, 2, 0, 0, 2, 0, 0, 0, 1),
		Q: []float64{-3, -3, -2},
		A: dense(9, 3, -1, 0, 0, 0, -1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, 1),
		B: []float64{0, 0, 2, 0, 0, 2, 0, 0, 2},
		Cones: []backends.Cone{backends.Power(0.3), backends.DualPower(0.3),
			backends.GeneralizedPower([]float64{0.5, 0.5}, 1)},
	}
	s, got = solve(t, format.Again(t, must.Of(FromConic(problem, 3))(t).Encode))
	require.Equal(t, backends.Optimal, s.Status)
	require.InDelta(t, -1.25, got.Objective, 1e-6)
	require.InDelta(t, 1.5, got.X[0]+got.X[1], 1e-4)
	require.InDelta(t, 2, got.X[2], 1e-4)

	problem.P = dense(3, 3, 0, 1, 0, 0, 0, 0, 0, 0, 1)
	_, err := FromConic(problem, 0)
	require.ErrorContains(t, err, "not positive semidefinite")
	_, err = FromConic(&backends.Problem{Q: []float64{1}, A: dense(3, 1, 1, 1, 1), B: make([]float64, 3),
		Cones: []backends.Cone{backends.NuclearNorm(1, 2)}}, 0)
	require.ErrorContains(t, err, "nuclear")
	_, err = FromConic(&backends.Problem{Q: []float64{math.NaN()}}, 0)
	require.Error(t, err)
}

const head = "VER\n4\nOBJSENSE\nMIN\n"

var format = readertest.Program[Model]{
	Ending: ".cbf", Read: read, Decode: Decode, Open: Read,
	Conic: func(m *Model) (*backends.Problem, error) {
		mustBeInRange(m)
		p, err := m.Conic()
		if err != nil {
			return nil, err
		}
		return p.Problem, nil
	},
	Files: []string{"testdata/small.cbf", "testdata/cones.cbf"},
	Texts: []string{
		head + "VAR\n2147483647 1\nF 2147483647\n", head + "PSDVAR\n1\n2147483647\n", head + "PSDCON\n2\n30000\n30000\n",
		head + "VAR\n100000 1\nGMEANABS 100000\n", head + "VAR\n3 1\nSVECPSD 3\nCON\n2147385345 1\nSVECPSD 2147385345\n",
		head + "POWCONES\n1 3\n3\n1\n2\n1e-300\nVAR\n10 2\n@0:POW 5\n@0:POW 5\nPOW*CONES\n1 2\n2\n1\n1\nCON\n3 1\n@0:POW* 3\n",
		head + "VAR\n1 1\nF 1\nPSDCON\n1\n2\nHCOORD\n1\n0 0 1 0 1e308\nDCOORD\n1\n0 1 0 1.5D0\n",
		head + "\f\nVAR\n1\v1\n\u00a0L+ 1\nOBJACOORD\n1\n0\u00a01\nOBJBCOORD\n-1\n",
	},
}

// mustBeInRange panics where an entry of a model that was read is not one of what the model has.
func mustBeInRange(m *Model) {
	for _, s := range sections {
		limits := m.limits()
		for k, e := range *s.list(m) {
			good := !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0)
			for j, kind := range s.indices {
				i := e.Index
				good = good && i[j] >= 0 && i[j] < limits[kind] && (kind != aColumn || i[j] <= i[j-1])
				if good {
					limits.matrix(m, kind, i[j])
				}
			}
			if !good {
				panic(fmt.Sprintf("entry %d of %s, %v, is out of range or not finite", k, s.keyword, e))
			}
		}
	}
}

func FuzzRead(f *testing.F) { format.Fuzz(f) }
