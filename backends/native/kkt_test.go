package native

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// randomProblem has rows of every kind: equations, inequalities, bounds, boxes
// of every form, and second-order cones of dimensions 1 to 8.
func randomProblem(rng *rand.Rand, n int) *backends.Problem {
	inf := math.Inf(1)
	cones := []backends.Cone{
		backends.SecondOrder(3), backends.Zero(2), backends.Nonnegative(4), backends.SecondOrder(8), backends.SecondOrder(1),
		backends.Box([]float64{-1, -inf, 0, 2, -inf}, []float64{1, 3, inf, 2, inf}), backends.Nonnegative(0),
		backends.SecondOrder(2), backends.Zero(1),
	}
	m := 0
	for _, c := range cones {
		m += c.Dim
	}
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			if rng.Float64() < 0.6 {
				a.Set(i, j, rng.NormFloat64()*math.Pow(10, 2*rng.Float64()-1))
			}
		}
	}
	for j := range n { // a bound among the inequalities
		a.Set(5, j, 0)
	}
	a.Set(5, 0, -2)
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var p mat.Dense
	p.Mul(g, g.T())
	q, b := normals(rng, n), normals(rng, m)
	return &backends.Problem{P: matrices.Upper(&p), Q: q, A: matrices.Compress(a), B: b, Cones: cones}
}

// The Newton system, solved with bounds eliminated and cones expanded, solves the equations P x + A'z = rx, A x - H z =
// rz, with rows of all kinds, and with every kind of cone beside inequalities and equations, in few and in many columns,
// and as a variable of its own.
func TestKKTSolvesTheNewtonSystem(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 10 {
		requireNewton(t, rng, randomProblem(rng, 6), 1e-8)
	}
	used := map[block]bool{}
	forms := map[matrixForm]bool{}
	eachExample(t, func(t *testing.T, e backends.Cone, _ kind) {
		rng := rand.New(rand.NewPCG(9, uint64(e.Dim)))
		few, many := problemWith(rng, e, max(2, e.Dim-1)), problemWith(rng, e, 3*e.Dim+1)
		for _, p := range []*backends.Problem{few, many, variableIn(rng, e)} {
			it := requireNewton(t, rng, p, 1e-7)
			used[it.cones[len(it.cones)-1].block()] = true
			for _, part := range it.k.matrices {
				forms[part.c.form] = true
			}
		}
	})
	for _, b := range []block{diagonalBlock, rankTwoBlock, basisBlock, productBlock, eliminatedBlock} {
		require.True(t, used[b], "no cone has a block of the form %d", b)
	}
	require.Len(t, forms, 3)
}

// problemWith has dense rows of the cone after inequalities and an equation.
func problemWith(rng *rand.Rand, e backends.Cone, n int) *backends.Problem {
	cones := []backends.Cone{backends.Nonnegative(2), backends.Zero(1), e}
	if e.Kind == backends.NonnegativeCone {
		cones = cones[1:]
	}
	m := 0
	for _, c := range cones {
		m += c.Dim
	}
	a, p := normalMatrix(rng, m, n), mat.NewDense(n, n, nil)
	g := normalMatrix(rng, n, n)
	p.Mul(g, g.T())
	for i := range n {
		p.Set(i, i, p.At(i, i)+1)
	}
	return &backends.Problem{P: matrices.Upper(p), Q: make([]float64, n), A: matrices.Compress(a), B: make([]float64, m),
		Cones: cones}
}

// variableIn has the cone for its variables, and an equation.
func variableIn(rng *rand.Rand, e backends.Cone) *backends.Problem {
	n := e.Dim
	a := mat.NewDense(n+1, n, nil)
	for j := range n {
		a.Set(0, j, rng.NormFloat64())
		a.Set(1+j, j, -1)
	}
	return &backends.Problem{Q: make([]float64, n), A: matrices.Compress(a), B: make([]float64, n+1),
		Cones: []backends.Cone{backends.Zero(1), e}}
}

func normalMatrix(rng *rand.Rand, r, c int) *mat.Dense {
	out := mat.NewDense(r, c, nil)
	for i := range r {
		for j := range c {
			out.Set(i, j, rng.NormFloat64())
		}
	}
	return out
}

// factoredAt returns the factored Newton systems of p at a random point.
func factoredAt(t *testing.T, rng *rand.Rand, p *backends.Problem) *iterate {
	f := formOf(t, p)
	it := must.Of(newIterate(f))(t)
	f.fill(p, newMatrices)
	require.True(t, it.k.load())
	for _, c := range it.cones {
		copy(c.of(it.s), interior(rng, c, c.to-c.from, 0.5))
		copy(c.of(it.z), interior(rng, c, c.to-c.from, 0.5))
	}
	require.NoError(t, it.rescale())
	it.k.refactor()
	return it
}

// requireNewton checks the solution for a random right-hand side at a random point. Of matrices in the
// inverse form it takes H^-1(A x - rz) = z.
func requireNewton(t *testing.T, rng *rand.Rand, p *backends.Problem, within float64) *iterate {
	it := factoredAt(t, rng, p)
	f := it.f
	rx, rz := normals(rng, f.n), normals(rng, f.m)
	x, z := make([]float64, f.n), make([]float64, f.m)
	require.NoError(t, it.k.solve(x, z, rx, rz, refined))
	px, atz, ax, hz := make([]float64, f.n), make([]float64, f.n), make([]float64, f.m), make([]float64, f.m)
	f.mulP(px, x)
	f.mulAt(atz, z)
	f.mulA(ax, x)
	for j := range rx {
		require.InDelta(t, rx[j], px[j]+atz[j], within)
	}
	for _, c := range it.cones {
		zc, hc := c.of(z), c.of(hz)
		want := make([]float64, len(zc)) // A x - rz
		copy(want, c.of(ax))
		axpy(-1, c.of(rz), want)
		if m, ok := c.cone.(*semidefinite); ok && m.block() == eliminatedBlock && it.inverse(m) {
			m.mulSym(hc, want)
			require.InDeltaSlice(t, zc, hc, within)
			continue
		}
		c.mulH(hc, zc)
		require.InDeltaSlice(t, want, hc, within)
	}
	for i := range f.zero {
		require.InDelta(t, rz[i], ax[i], within)
	}
	return it
}

// What the rows leave open is up to the entries of P, small as they may be: what is added to the pivots must not drown
// them, so that one solve with the factors is near the solution of the systems.
func TestSmallEntriesOfP(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const n, m, entry = 12, 5, 1e-9
	it := factoredAt(t, rng, &backends.Problem{
		P: matrices.Compress(mat.NewDiagDense(n, slices.Repeat([]float64{entry}, n))), Q: normals(rng, n),
		A: matrices.Compress(normalMatrix(rng, m, n)), B: normals(rng, m), Cones: []backends.Cone{backends.Nonnegative(m)}})
	k := it.k
	x, z, rx, rz := make([]float64, n), make([]float64, m), normals(rng, n), normals(rng, m)
	require.NoError(t, k.solve(x, z, rx, rz, refined))
	once := slices.Clone(k.rhs)
	k.factor.Solve(once)
	for j, p := range k.xpos {
		require.InDelta(t, x[j], once[p], 0.05*maxAbs(x))
	}
}

// inverse says whether a matrix is in the inverse form.
func (it *iterate) inverse(m *semidefinite) bool {
	return slices.ContainsFunc(it.k.matrices, func(p *matrixPart) bool { return p.c == m && p.c.form == eliminateRows })
}

// The iteration loop allocates nothing. The count is that of the whole process, in which goroutines of
// earlier tests may still be at work: the least of several counts is the loop's own.
func TestIterationsAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes more values escape to the heap")
	}
	p := enLower(40, 60, 5, 2, 1)
	f := formOf(t, p)
	r := must.Of(newRunner(f))(t)
	f.fill(p, newMatrices)
	require.True(t, r.k.load())
	r.best.error, r.strategy = math.Inf(1), r.embedding
	require.NoError(t, r.embedding.start(true))
	least := math.Inf(1)
	for range 3 {
		least = min(least, testing.AllocsPerRun(4, func() {
			r.residuals()
			p := r.measure()
			r.keep(p.worst)
			_, _ = r.step(context.Background(), p)
		}))
	}
	require.Zero(t, least)
}

// Where the factors are of another matrix in a few pivots, iterative refinement
// diverges, and improve finds the solution all the same.
func TestImproveWithWrongPivots(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	p := randomProblem(rng, 12)
	it := factoredAt(t, rng, p)
	f, k := it.f, it.k
	wrong := append([]float64(nil), k.shift...)
	for _, j := range []int{2, 7, k.size - 1} {
		wrong[j] = -0.8 * k.mat.val[k.diag[j]]
	}
	k.factor.Factorize(k.mat.val, wrong, pivotTolerance, pivotReplaced)
	rx, rz := normals(rng, f.n), make([]float64, f.m)
	x, z := make([]float64, f.n), make([]float64, f.m)
	require.NoError(t, k.solve(x, z, rx, rz, refined))
	left, leftZ := k.residual(limits{1, 1, 1})
	require.Less(t, max(left, leftZ), 1e-8)

	// refinement alone does not get there
	copy(k.sol, k.rhs)
	k.factor.Solve(k.sol)
	for range refineSteps {
		k.residual(limits{1, 1, 1})
		k.factor.Solve(k.res)
		axpy(1, k.res, k.sol)
	}
	left, leftZ = k.residual(limits{1, 1, 1})
	require.Greater(t, max(left, leftZ), 1e-3)

	// with all pivots wrong neither does, and the matrix is to be factored with more regularisation
	step := accuracy{left: residualLeft, rows: refineStart}
	for j, at := range k.diag {
		wrong[j] = -0.8 * k.mat.val[at]
	}
	k.factor.Factorize(k.mat.val, wrong, pivotTolerance, pivotReplaced)
	require.NoError(t, k.solve(x, z, rx, rz, step))
	require.True(t, k.lost())
	k.raise()
	require.NoError(t, k.solve(x, z, rx, rz, step))
	require.False(t, k.lost())
}

// enLower is the lower level of an elastic net with n rows and p features,
//
//	min 1/(2n) |y - X b|^2  s.t.  |b|_1 <= r1, 1/2 |b|^2 <= r2,
//
// in the columns b, u, e and the rows e + X b = y; b - u <= 0, -b - u <= 0,
// sum u <= r1; and (r2 + 1/2, r2 - 1/2, b) in the second-order cone.
func enLower(n, p int, r1, r2 float64, seed uint64) *backends.Problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	columns, rows := 2*p+n, n+2*p+1+p+2
	up, down, sum, cone := n, n+p, n+2*p, n+2*p+1
	a := mat.NewDense(rows, columns, nil)
	b := make([]float64, rows)
	for i := range n {
		for j := range p {
			x := rng.NormFloat64()
			a.Set(i, j, x)
			if j < 15 { // these coefficients are 1
				b[i] += x
			}
		}
		b[i] += 2 * rng.NormFloat64()
		a.Set(i, 2*p+i, 1)
	}
	for j := range p {
		a.Set(up+j, j, 1)
		a.Set(down+j, j, -1)
		a.Set(up+j, p+j, -1)
		a.Set(down+j, p+j, -1)
		a.Set(sum, p+j, 1)
		a.Set(cone+2+j, j, -1)
	}
	b[sum], b[cone], b[cone+1] = r1, r2+0.5, r2-0.5
	d := make([]float64, columns)
	for i := range n {
		d[2*p+i] = 1 / float64(n)
	}
	return &backends.Problem{
		P: matrices.Upper(mat.NewDiagDense(columns, d)), Q: make([]float64, columns), A: matrices.Compress(a), B: b,
		Cones: []backends.Cone{backends.Zero(n), backends.Nonnegative(2*p + 1), backends.SecondOrder(p + 2)},
	}
}

// BenchmarkElasticNet sets up and solves lower levels with 100 rows.
func BenchmarkElasticNet(b *testing.B) {
	for _, p := range []int{60, 250, 1000} {
		problem := enLower(100, p, 5, 2, 1)
		b.Run(fmt.Sprintf("p=%d/setup", p), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (Backend{}).Setup(problem, backends.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("p=%d/solve", p), func(b *testing.B) {
			s, err := Backend{}.Setup(problem, backends.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			iterations, solves := 0, 0
			for b.Loop() {
				if err := s.Update(backends.Update{B: problem.B}); err != nil { // or it would go on from the end of the last solve
					b.Fatal(err)
				}
				sol, err := s.Solve(context.Background())
				if err != nil || sol.Status != backends.Optimal {
					b.Fatal(sol, err)
				}
				iterations += sol.Iterations
				solves++
			}
			b.ReportMetric(float64(iterations)/float64(solves), "iterations/op")
		})
	}
}

// BenchmarkSmall solves programs of ten variables, 1/2 x'Px + q'x over the simplex, again and again, through the checks
// of package backends: projections, P = I, and portfolios, P full, with another q each time, and warm, with a q that
// moves by a hundredth from the last solution.
func BenchmarkSmall(b *testing.B) {
	const n = 10
	f := mat.NewDense(n, n, nil)
	for i, rng := 0, rand.New(rand.NewPCG(2, 1)); i < n*n; i++ {
		f.Set(i/n, i%n, rng.NormFloat64())
	}
	f.Mul(f, f.T())
	for name, p := range map[string]mat.Matrix{"projection": mat.NewDiagDense(n, slices.Repeat([]float64{1}, n)), "portfolio": f} {
		for _, warm := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/warm=%v", name, warm), func(b *testing.B) {
				s, rng := newSimplex(b, p), rand.New(rand.NewPCG(1, 1))
				b.ReportAllocs()
				iterations, solves := 0, 0
				for b.Loop() {
					step := 1.0
					if warm && solves > 0 {
						step = 0.01
					}
					for j := range s.q {
						s.q[j] += step * (rng.NormFloat64() - s.q[j])
					}
					s.next(step < 1)
					iterations += s.sol.Iterations
					solves++
				}
				b.ReportMetric(float64(iterations)/float64(solves), "iterations/op")
			})
		}
	}
}

// simplex solves min 1/2 x'Px + q'x over the simplex.
type simplex struct {
	t       testing.TB
	q       []float64
	problem *backends.Problem
	update  backends.Update // beside q
	solver  backends.Solver
	sol     backends.Solution
}

func newSimplex(t testing.TB, p mat.Matrix) *simplex {
	n, _ := p.Dims()
	a := mat.NewDense(n+1, n, nil)
	for i := range n {
		a.Set(0, i, 1)
		a.Set(1+i, i, -1)
	}
	problem := &backends.Problem{P: matrices.Upper(p), Q: make([]float64, n), A: matrices.Compress(a),
		B: append([]float64{1}, make([]float64, n)...), Cones: []backends.Cone{backends.Zero(1), backends.Nonnegative(n)}}
	solver, err := backends.Checked(Backend{}).Setup(problem, backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &simplex{t: t, q: make([]float64, n), problem: problem, solver: solver}
}

// next solves with the q there is, from the last solution if it is warm.
func (s *simplex) next(warm bool) {
	s.update.Q = s.q
	err := s.solver.Update(s.update)
	if warm {
		err = cmp.Or(err, s.solver.WarmStart(backends.Point{X: s.sol.X, S: s.sol.S, Z: s.sol.Z}))
	}
	err = cmp.Or(err, s.solver.(backends.Filler).SolveInto(context.Background(), &s.sol))
	if err != nil || s.sol.Status != backends.Optimal {
		s.t.Fatal(s.sol, err)
	}
}

// Updates, from the eleventh on of matrices, too, and solves of small programs allocate nothing, cold and warm. The
// solutions are max(0, -q - lambda) with a lambda for which their sum is one.
func TestSmallAllocatesNothing(t *testing.T) {
	const n = 10
	s, rng := newSimplex(t, mat.NewDiagDense(n, slices.Repeat([]float64{1}, n))), rand.New(rand.NewPCG(1, 1))
	for try := range 20 {
		warm := try%2 == 1
		if try > 10 {
			s.update = backends.Update{P: s.problem.P, A: s.problem.A}
			s.next(warm)
		}
		for j := range s.q {
			s.q[j] += 0.1 * rng.NormFloat64()
		}
		s.next(warm)
		low, high := -10., 10.
		for high-low > 1e-14 {
			sum, lambda := 0.0, (low+high)/2
			for _, q := range s.q {
				sum += max(0, -q-lambda)
			}
			if sum > 1 {
				low = lambda
			} else {
				high = lambda
			}
		}
		for j, x := range s.sol.X {
			require.InDelta(t, max(0, -s.q[j]-low), x, math.Sqrt(2*1e-8)) // by strong convexity
		}
		if !raceDetector {
			require.Zero(t, testing.AllocsPerRun(5, func() { s.next(warm) }), "warm: %v", warm)
		}
	}
}
