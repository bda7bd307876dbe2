package qps

import (
	"bytes"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
)

var inf = math.Inf(1)

func parse(t *testing.T, text string) *Model {
	t.Helper()
	return must.Of(Decode("test.mps", strings.NewReader(text)))(t)
}

// dense writes out a sparse matrix.
func dense(a *sparse.CSC) [][]float64 {
	r, c := a.Dims()
	out := make([][]float64, r)
	for i := range out {
		out[i] = make([]float64, c)
		for j := range out[i] {
			out[i][j] = a.At(i, j)
		}
	}
	return out
}

func TestReadSmall(t *testing.T) {
	m := must.Of(Read("testdata/small.qps"))(t)
	assert.Equal(t, "small", m.Name)
	assert.Equal(t, "cost", m.Objective)
	assert.Equal(t, []string{"sum", "cap", "link"}, m.Rows)
	assert.Equal(t, []string{"x", "y", "z"}, m.Columns)
	assert.False(t, m.Maximize)
	assert.Equal(t, []float64{-2, -2, 0}, m.Q)
	assert.Equal(t, 1.0, m.Constant, "the right-hand side of the objective is minus the constant")
	assert.Equal(t, [][]float64{{1, 1, 0}, {2, 1, 0}, {1, 0, -1}}, dense(m.A))
	assert.Equal(t, [][]float64{{3, 0, 0}, {0, 2, 0}, {0, 0, 0}}, dense(m.P))
	assert.Equal(t, []float64{2.5, 2, 0}, m.RowLower)
	assert.Equal(t, []float64{5.5, 10, 0}, m.RowUpper)
	assert.Equal(t, []float64{0, 0, -inf}, m.ColumnLower)
	assert.Equal(t, []float64{4, inf, inf}, m.ColumnUpper)
}

// one returns a file with a row r, a column x and the given sections.
func one(kind, sections string) string {
	return "NAME t\nROWS\n N c\n " + kind + " r\nCOLUMNS\n x c 1 r 1\n y r 1\n" + sections + "ENDATA\n"
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		kind, rng string
		l, u      float64
	}{
		{"L", "3", 7, 10}, {"L", "-3", 7, 10}, {"G", "3", 10, 13}, {"G", "-3", 10, 13},
		{"E", "3", 10, 13}, {"E", "-3", 7, 10}, {"E", "0", 10, 10}, {"L", "0", 10, 10},
		{"L", "1e30", -inf, 10}, {"E", "-inf", -inf, 10},
	} {
		for _, text := range []string{
			one(c.kind, "RHS\n RHS r 10\nRANGES\n RNG r "+c.rng+"\n"),
			one(c.kind, "RANGES\n r "+c.rng+"\nRHS\n r 10\n"),
		} {
			m := parse(t, text)
			assert.Equal(t, []float64{c.l, c.u}, []float64{m.RowLower[0], m.RowUpper[0]}, "%s row, range %s", c.kind, c.rng)
		}
	}
}

func TestRHS(t *testing.T) {
	m := parse(t, one("L", "RHS\n A c 5 r -2\n B r 7\n"))
	assert.Equal(t, -5.0, m.Constant)
	assert.Equal(t, -2.0, m.RowUpper[0], "the first set counts")
	assert.Equal(t, inf, parse(t, one("L", "RHS\n r 1e30\n")).RowUpper[0])
	assert.Equal(t, -inf, parse(t, one("G", "RHS\n r -1.5D+25\n")).RowLower[0])
	assert.Equal(t, 0.0, parse(t, one("G", "")).RowLower[0])
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		lines string
		l, u  float64
	}{
		{"", 0, inf},
		{" UP B x 5\n", 0, 5},
		{" UP B x 0\n", 0, 0},
		{" UP B x -5\n", -inf, -5},
		{" LO B x -9\n UP B x -5\n", -9, -5},
		{" UP B x -5\n LO B x -9\n", -9, -5},
		{" LO B x 0\n UP B x -5\n", 0, -5},
		{" MI B x\n", -inf, inf},
		{" MI x\n UP x 3\n", -inf, 3},
		{" UP B x 3\n PL B x\n", 0, inf},
		{" FR B x\n", -inf, inf},
		{" FR x\n", -inf, inf},
		{" FR B x 0\n", -inf, inf},
		{" FR x 0\n", -inf, inf},
		{" FX B x -2\n", -2, -2},
		{" fx x 2\n", 2, 2},
		{" LO B x -1e30\n", -inf, inf},
		{" LO x -Infinity\n UP x +INF\n", -inf, inf},
		{" UP B x 5\n UP C x 4\n", 0, 5},
		{" UP B x 5\n UP B x 4\n", 0, 4},
	} {
		m := parse(t, one("L", "BOUNDS\n"+c.lines))
		assert.Equal(t, []float64{c.l, c.u}, []float64{m.ColumnLower[0], m.ColumnUpper[0]}, c.lines)
		assert.Equal(t, []float64{0, inf}, []float64{m.ColumnLower[1], m.ColumnUpper[1]}, c.lines)
	}
}

func TestSense(t *testing.T) {
	for _, c := range []struct {
		lines string
		max   bool
	}{
		{"", false}, {"OBJSENSE\n    MAX\n", true}, {"OBJSENSE MAX\n", true}, {"OBJSENSE MAXIMIZE\n", true},
		{"OBJSENSE\n maximise\n", true},
		{"OBJSENSE MINIMIZE\n", false}, {"OBJSENSE\n MIN\n", false}, {"MAXIMIZE\n", true}, {"MIN\n", false},
	} {
		m := parse(t, strings.Replace(one("L", ""), "ROWS", c.lines+"ROWS", 1))
		assert.Equal(t, c.max, m.Maximize, c.lines)
		assert.Equal(t, 1.0, m.Q[0], "the objective stays that of the file")
	}
}

func TestObjective(t *testing.T) {
	rows := "ROWS\n N a\n N b\n L r\nCOLUMNS\n x a 1 b 2\n x r 3\nRHS\n S a 5 b 6\nRANGES\n R b 1\nENDATA\n"
	m := parse(t, rows)
	assert.Equal(t, "a", m.Objective)
	assert.Equal(t, []float64{1}, m.Q)
	assert.Equal(t, -5.0, m.Constant)
	for _, head := range []string{"OBJNAME b\n", "OBJNAME\n b\n"} {
		m = parse(t, head+rows)
		assert.Equal(t, "b", m.Objective)
		assert.Equal(t, []float64{2}, m.Q)
		assert.Equal(t, -6.0, m.Constant)
	}
	m = parse(t, "ROWS\n L r\nCOLUMNS\n x r 1\nENDATA\n")
	assert.Equal(t, []float64{0}, m.Q, "without an objective")
}

func TestColumns(t *testing.T) {
	m := parse(t, "ROWS\n N c\n L r\n L s\nCOLUMNS\n x s 2 c 1 r 4\n empty\n y r 1\n x s 3 c 1\n y r 2\nENDATA\n")
	assert.Equal(t, []string{"x", "empty", "y"}, m.Columns, "in the order of first appearance")
	assert.Equal(t, []float64{2, 0, 0}, m.Q, "repeated entries add up")
	assert.Equal(t, [][]float64{{4, 0, 3}, {5, 0, 0}}, dense(m.A))
}

func TestQuadratic(t *testing.T) {
	upper := [][]float64{{2, 1}, {0, 3}}
	for _, c := range []struct {
		section string
		want    [][]float64
	}{
		{"QUADOBJ\n x x 2 y 1\n y y 3\n", upper},
		{"QUADOBJ\n x x 2\n y x 1 y 3\n", upper},
		{"QUADOBJ\n x x 1\n x x 1\n y x 1 y 3\n", upper},
		{"QMATRIX\n x x 2 y 1\n y x 1 y 3\n", upper},
		{"QSECTION\n x x 2\n y x 1 y 3\n", upper},
		{"QSECTION c\n x x 2 y 1\n y x 1 y 3\n", upper},
		{"QMATRIX\n y y 3\n", [][]float64{{0, 0}, {0, 3}}},
	} {
		m := parse(t, one("L", c.section))
		assert.Equal(t, c.want, dense(m.P), c.section)
	}
	assert.Nil(t, parse(t, one("L", "QUADOBJ\n")).P)
	assert.Nil(t, parse(t, one("L", "")).P)
}

func TestGzipAndEndings(t *testing.T) {
	text := must.Of(os.ReadFile("testdata/small.qps"))(t)
	want := must.Of(Read("testdata/small.qps"))(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	must.Of(w.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))))(t)
	require.NoError(t, w.Close())
	got := must.Of(Decode("small.qps.gz", &packed))(t)
	assert.Equal(t, want, got)
	got = must.Of(Decode("tabs", bytes.NewReader(bytes.ReplaceAll(text, []byte(" "), []byte("\t")))))(t)
	got.Name = want.Name
	assert.Equal(t, want, got)
}

func TestErrors(t *testing.T) {
	format.Errors(t, []readertest.Wrong{
		{"", 0, "empty"},
		{"hello world\n", 1, "expected a section"},
		{" x y 1\n", 1, "before a section"},
		{"NAME t\nROWS\n N c\n", 3, "ENDATA is missing"},
		{strings.TrimSuffix(one("L", ""), "ENDATA\n"), 7, "ENDATA is missing"},
		{"COLUMNS\nENDATA\n", 1, "before ROWS"},
		{"ROWS\n L r\nENDATA\n", 3, "before COLUMNS"},
		{"ROWS\n L r\nRHS\n", 3, "before COLUMNS"},
		{"ROWS\n L r\nROWS\n", 3, "twice"},
		{"ROWS\n L r\n G r\n", 3, `row "r"`},
		{"ROWS\n X r\n", 2, "expected N, L, G or E"},
		{"ROWS\n L\n", 2, "and a name"},
		{"ROWS r\n", 1, "lines of their own"},
		{one("L", "RHS\n S q 1\n"), 9, `"q"`},
		{one("L", "RHS\n S r one\n"), 9, `"one" found, expected a number`},
		{one("L", "RHS\n S r nan\n"), 9, "expected a finite number"},
		{one("L", "RHS\n S r 1\n S r 2\n"), 10, "already"},
		{one("G", "RHS\n S r 1e30\n"), 0, "wrong side"},
		{one("L", "RHS\n S c 1e30\n"), 0, "objective is infinite"},
		{one("L", "RHS\n S\n"), 9, "expected a row"},
		{one("L", "BOUNDS\n UP B q 1\n"), 9, `"q"`},
		{one("L", "BOUNDS\n UP B x\n"), 9, ""},
		{one("L", "BOUNDS\n UP\n"), 9, "UP with 0 fields"},
		{one("L", "BOUNDS\n BV B x\n"), 9, "not supported"},
		{one("L", "BOUNDS\n UI B x 4\n"), 9, "not supported"},
		{one("L", "BOUNDS\n ZZ B x 4\n"), 9, "expected LO, UP"},
		{one("L", "BOUNDS\n LO B x inf\n"), 9, "+infinity"},
		{one("L", "BOUNDS\n FX B x inf\n"), 9, "infinite"},
		{one("L", "QUADOBJ\n x q 4\n"), 9, `"q"`},
		{one("L", "QUADOBJ\n x y 4\n y x 4\n"), 8, "both orders"},
		{one("L", "QMATRIX\n x y 4\n"), 8, "not symmetric"},
		{one("L", "QSECTION\n x y 4\n y x 5\n"), 8, "not symmetric"},
		{one("L", "QSECTION r\n x y 4\n"), 8, "quadratic constraints"},
		{one("L", "QUADOBJ\n x x 1\nQMATRIX\n x x 1\n"), 10, "one section"},
		{one("L", "QCMATRIX r\n x y 4\n"), 8, "not supported"},
		{one("L", "SOS\n S1 s\n"), 8, "not supported"},
		{"OBJSENSE UP\n", 1, "expected MAX or MIN"},
		{"OBJNAME b\n" + one("L", ""), 0, `"b"`},
		{"ROWS\n N c\nCOLUMNS\n M1 'MARKER' 'INTORG'\n x c 1\nENDATA\n", 4, "integer"},
		{"ROWS\n N c\nCOLUMNS\n M1 'MARKER' 'FOO'\n x c 1\nENDATA\n", 4, "marker"},
		{"ROWS\n N c\nCOLUMNS\n x c 1 c\nENDATA\n", 4, "expected a column"},
		{"ROWS\n N c\nCOLUMNS\n x c 1e308\n x c 1e308\nENDATA\n", 0, "add up to +Inf"},
		{"ROWS\n N c\nCOLUMNS\n x c 1e400\nENDATA\n", 4, "beyond the range"},
	})
}

// TestErrorsFixed has mistakes after the file turned out to be in columns.
func TestErrorsFixed(t *testing.T) {
	text := must.Of(os.ReadFile("testdata/fixed.mps"))(t)
	for _, c := range []struct{ from, to, says string }{
		{"    B 1       DAY 2              3.0", "    B 1       DAY 3              3.0",
			`fixed.mps:15: column "B 1": row "DAY 3" is not in ROWS (by columns`},
		{"    B 1       DAY 2              3.0", "   B 1       DAY 2              3.0",
			"fixed.mps:15: does not keep to the columns"},
		{" UP SET 1     A 1                3.0", " UP SET 1     A 1                3,0",
			"fixed.mps:19: UP bound of column \"A 1\""},
	} {
		changed := strings.Replace(string(text), c.from, c.to, 1)
		require.NotEqual(t, string(text), changed)
		_, err := Decode("fixed.mps", strings.NewReader(changed))
		assert.ErrorContains(t, err, c.says)
	}
}

// random makes a program with a point within its sides, strictly convex in both senses, and returns the rows of A.
func random(rng *rand.Rand) (m *Model, sign float64, a [][]float64) {
	rows, n := rng.IntN(6), 1+rng.IntN(6)
	m = &Model{Maximize: rng.IntN(2) == 0, Constant: 0.5, Rows: make([]string, rows), Columns: make([]string, n)}
	if sign = 1; m.Maximize {
		sign = -1
	}
	sides := func(v float64) (l, u float64) {
		switch l, u = v-rng.Float64(), v+rng.Float64(); rng.IntN(5) {
		case 0:
			l = -inf
		case 1:
			u = inf
		case 2:
			l, u = v, v
		case 3:
			l, u = -inf, inf
		}
		return l, u
	}
	var x []float64
	for range n {
		v := rng.NormFloat64()
		l, u := sides(v)
		x, m.Q = append(x, v), append(m.Q, rng.NormFloat64())
		m.ColumnLower, m.ColumnUpper = append(m.ColumnLower, l), append(m.ColumnUpper, u)
	}
	for range rows {
		row := make([]float64, n)
		for j := range row {
			row[j] = float64(rng.IntN(2)) * rng.NormFloat64()
		}
		l, u := sides(floats.Dot(row, x))
		a, m.RowLower, m.RowUpper = append(a, row), append(m.RowLower, l), append(m.RowUpper, u)
	}
	m.A, m.P = matrices.Of(rows, n, func(i, j int) float64 { return a[i][j] }), matrices.Identity(n, sign)
	return m, sign, a
}

var format = readertest.Program[Model]{
	Ending: ".qps", Read: read, Decode: Decode, Open: Read,
	Conic: func(m *Model) (*backends.Problem, error) { return m.Conic().Problem, nil },
	Files: []string{"testdata/small.qps", "testdata/fixed.mps"},
	Texts: []string{
		one("E", "RHS\n r 1e30\nRANGES\n r -2\nBOUNDS\n MI x\n UP x -3\nQMATRIX\n x y 1\n y x 1\n"),
		one("G", "RHS\n c 7\n r inf\nBOUNDS\n BV x\n"), one("L", "RANGES\n r 1e19\nQSECTION c\n x x 1d0\n x x -1\n"),
		"ROWS\n N c\nCOLUMNS\n M 'MARKER' 'INTORG'\nENDATA",
		"NAME a b\nOBJSENSE MAX\nOBJNAME\n d\nROWS\n N c\n N d\nCOLUMNS\n x d 1 c 2\nENDATA\n",
		"ROWS\n\f\n\v N c\n\u00a0L r\n\ufeff\nCOLUMNS\n x\u00a0c\v1\nENDATA\n", "\u00a0\nROWS\n",
		"ROWS\n N c\nCOLUMNS\n x c 1e999\nENDATA\n",
	},
}

func FuzzRead(f *testing.F) { format.Fuzz(f) }

// What is written is read as the same model, but for the rounding of upper sides, of public instances, too.
func TestEncode(t *testing.T) {
	files := []string{"testdata/small.qps", "testdata/fixed.mps"}
	if dir := os.Getenv("CONETUNE_INSTANCES"); dir != "" {
		for _, pattern := range []string{"lp/*", "qp/*"} {
			for _, f := range must.Of(filepath.Glob(filepath.Join(dir, pattern)))(t) {
				if info := must.Of(os.Stat(f))(t); info.Size() < 300_000 {
					files = append(files, f)
				}
			}
		}
	}
	read := 0
	for _, file := range files {
		m, err := Read(file)
		if err != nil {
			continue
		}
		read++
		copied := format.Again(t, m.Encode)
		require.InDeltaSlice(t, m.RowUpper, copied.RowUpper, 1e-9, file)
		copied.RowUpper = m.RowUpper
		if strings.Contains(strings.Join(m.Columns, ""), " ") {
			require.Equal(t, []string{"x1", "x2"}, copied.Columns[:2])
			copied.Objective, copied.Rows, copied.Columns = m.Objective, m.Rows, m.Columns
		}
		copied.Name = m.Name
		require.Equal(t, m, copied, file)
	}
	require.GreaterOrEqual(t, read, 2)

	m := must.Of(Read(files[0]))(t)
	m.RowLower[0] = 100
	require.ErrorContains(t, m.Encode(new(bytes.Buffer)), "row sum")
}

// A program of known optimum has it as a model of this format, too, with the constant of its objective.
func TestFromConic(t *testing.T) {
	m := must.Of(Read("testdata/small.qps"))(t)
	copied := format.Again(t, must.Of(FromConic(m.Conic().Problem, m.Constant))(t).Encode)
	p := copied.Conic()
	s := p.Solution(backendtest.Solve(t, backendtest.Open(t, "native"), p.Problem, backends.Options{}))
	require.InDeltaSlice(t, []float64{1, 1.5}, s.X[:2], 1e-5)
	require.InDelta(t, 1.5+1.5*1.5-2-3+1, s.Objective, 1e-6)

	problem := m.Conic().Problem
	problem.Cones = []backends.Cone{backends.SecondOrder(len(problem.B))}
	_, err := FromConic(problem, 0)
	require.ErrorContains(t, err, "kind")
}

func solve(t *testing.T, m *Model) (*backends.Solution, formats.Solution) {
	t.Helper()
	p := m.Conic()
	s := backendtest.Solve(t, backendtest.Open(t, "native"), p.Problem, backends.Options{})
	return s, p.Solution(s)
}

func TestSolveSmall(t *testing.T) {
	m := must.Of(Read("testdata/small.qps"))(t)
	s, got := solve(t, m)
	require.Equal(t, backends.Optimal, s.Status)
	// 3x - 2 = y1 and 2y - 2 = y1 at x = 1, y = 3/2 with y1 = 1; z = x.
	assert.InDeltaSlice(t, []float64{1, 1.5, 1}, got.X, 1e-6)
	assert.InDeltaSlice(t, []float64{1, 0, 0}, got.Y, 1e-6)
	assert.InDeltaSlice(t, []float64{0, 0, 0}, got.Z, 1e-6)
	// 3/2 + 9/4 - 2 - 3 + 1
	assert.InDelta(t, -0.25, got.Objective, 1e-6)
	assert.InDelta(t, -0.25, got.DualObjective, 1e-6)
}

func TestSolveInfeasible(t *testing.T) {
	// Bounds that cross are a property of the program, not an error.
	s, got := solve(t, parse(t, one("L", "BOUNDS\n LO B x 5\n UP B x 3\n")))
	assert.Equal(t, backends.PrimalInfeasible, s.Status)
	assert.Equal(t, inf, got.Objective)
	assert.InDelta(t, -got.Y[0], got.Z[0], 1e-8, "A'y + z = 0: the bounds of x and the row r contradict each other")

	s, got = solve(t, parse(t, "OBJSENSE MAX\n"+one("G", "")))
	assert.Equal(t, backends.DualInfeasible, s.Status)
	assert.Equal(t, inf, got.Objective, "a maximum without bound")
	assert.Positive(t, got.X[0])
}

// TestRandomOptimality solves programs that have a known point and checks the
// conditions of optimality in the terms of the file, entry by entry.
func TestRandomOptimality(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		m, sign, a := random(rng)
		s, got := solve(t, m)
		require.Equal(t, backends.Optimal, s.Status)
		check := func(multiplier, value, l, u float64) {
			assert.GreaterOrEqual(t, value, l-1e-6)
			assert.LessOrEqual(t, value, u+1e-6)
			if multiplier > 1e-4 {
				assert.InDelta(t, l, value, 1e-4, "a positive multiplier acts on the lower side")
			} else if multiplier < -1e-4 {
				assert.InDelta(t, u, value, 1e-4, "a negative multiplier acts on the upper side")
			}
		}
		objective := m.Constant
		reduced := make([]float64, len(got.X))
		for j, x := range got.X {
			objective += m.Q[j]*x + sign*x*x/2
			reduced[j] = sign * (m.Q[j] + sign*x)
			check(got.Z[j], x, m.ColumnLower[j], m.ColumnUpper[j])
		}
		for i, row := range a {
			floats.AddScaled(reduced, -got.Y[i], row)
			check(got.Y[i], floats.Dot(row, got.X), m.RowLower[i], m.RowUpper[i])
		}
		assert.InDeltaSlice(t, reduced, got.Z, 1e-6)
		assert.InDelta(t, objective, got.Objective, 1e-6)
	}
}
