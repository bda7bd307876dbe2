package native

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
)

// lowRank is a program whose variables are the diagonal of one matrix, the relaxation of max-cut for example:
//
//	minimize q'x  subject to  S = B - diag(a_1 x_1, .., a_n x_n) positive semidefinite.
//
// Its multiplier Z has the diagonal d_i = -q_i/a_i and the least <B, Z>. With C = D^1/2 B D^1/2 without its diagonal
// and Z = D^1/2 V V' D^1/2 the rows of V have length 1, and V minimizes 1/2 <V, CV>. There are matrices Z of rank r
// with r(r+1)/2 <= n among the solutions, and with as many columns a V of second order is one, but for few B (Burer,
// Monteiro 2003; Boumal, Voroninski, Bandeira 2016). Sweeps over the rows (Wang, Chang, Kolter 2017) come near to
// it, and Newton's method on the spheres, by conjugate gradients, to its digits (Absil, Mahony, Sepulchre 2008). The
// slack is then D^-1/2 (C + diag(l)) D^-1/2, where l_i = |CV|_i: that it is definite is the proof that nothing was
// missed. Or Z are the variables, and S is the multiplier.
type lowRank struct {
	stop  *stop.Stop
	n, r  int
	b, d  []float64 // B, its scaled lower triangle by columns, and the diagonal of Z
	start []int32   // rows of C, both triangles
	ind   []int32
	val   []float64
	// write is the point of the program with this diagonal of S, and this Z.
	write func(s, z []float64) *backends.Solution

	v, kept, cv, grad, u, cu, res, dir []float64 // n x r, row by row

	l          []float64 // multipliers of the rows
	least      float64   // of those that are units
	iterations int
	history    []backends.Iteration // where the options ask for it
}

const (
	// From lowRankFrom rows on these are faster than interior points.
	lowRankFrom = 60
	// Sweeps end where one gains less than sweepGain of the value, at the latest after mostSweeps.
	sweepGain, mostSweeps = 1e-3, 50
	// Columns with less than lowRankDrop of the largest one, times the gradient, are left out.
	lowRankDrop = 0.1
	// A direction takes at most mostProducts with the Hessian, and lowers the residual to leastLess at least. Units of
	// rows are not below leastUnit of the mean. Values of the last digits are noise.
	mostProducts, leastLess, leastUnit, lastDigits = 2000, 0.1, 1e-3, 1e-13
	// The parts of the tolerance that the gap spends on a slack and a multiplier that are definite beyond rounding, and
	// what gradients may be, in units of the multipliers of the rows, beside the first of these.
	slackPart, multiplierPart, gradientPart = 0.25, 0.125, 0.25
	// Interior points are as fast where there are lowRankSteps.
	lowRankSteps = 100
)

// newLowRank reads a program; nil for one of another form.
func newLowRank(p *backends.Problem, s *stop.Stop, limit int64) *lowRank {
	large := func(c backends.Cone) bool {
		return c.Kind == backends.PSDCone && backends.PSDOrder(c.Dim) >= lowRankFrom
	}
	if len(p.Cones) > 2 || !slices.ContainsFunc(p.Cones, large) || p.A == nil || p.P != nil && p.P.NNZ() > 0 {
		return nil
	}
	l := &lowRank{stop: s}
	if !l.readSlack(p) && !l.readMatrix(p) {
		return nil
	}
	r := int(math.Sqrt(float64(2*l.n))) + 1
	if !l.readB(r, limit) {
		return nil
	}
	l.l = make([]float64, l.n)
	l.turn(make([]float64, l.n*r), r)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range l.v {
		l.v[i] = random.NormFloat64()
	}
	for i := range l.n {
		unitLength(l.of(l.v, i))
	}
	return l
}

// readSlack reads a program whose variables are the diagonal of S.
func (l *lowRank) readSlack(p *backends.Problem) bool {
	n, m := p.Dims()
	if p.Cones[0].Kind != backends.PSDCone || p.Cones[0].Dim != m || backends.PSDOrder(m) != n {
		return false
	}
	l.n, l.b, l.d = n, p.B, make([]float64, n)
	at, a, col := diagonal(n), make([]float64, n), make([]int, n)
	for j, raw := 0, p.A.RawMatrix(); j < n; j++ {
		k := raw.Indptr[j]
		if raw.Indptr[j+1] != k+1 {
			return false
		}
		i, found := slices.BinarySearch(at, raw.Ind[k])
		if !found || a[i] != 0 || !l.fixed(i, -p.Q[j]/raw.Data[k]) {
			return false
		}
		a[i], col[i] = raw.Data[k], j
	}
	l.write = func(s, z []float64) *backends.Solution {
		out := &backends.Solution{X: make([]float64, n), Z: z}
		for i, v := range s {
			out.X[col[i]] = (p.B[at[i]] - v) / a[i]
		}
		out.S = p.Slack(out.X)
		return out
	}
	return true
}

// readMatrix reads one whose variables are Z, each with an entry of its own, and whose diagonal equations fix.
func (l *lowRank) readMatrix(p *backends.Problem) bool {
	if len(p.Cones) != 2 {
		return false
	}
	zero, cone := p.Cones[0], p.Cones[1]
	equations, first := 0, zero.Dim // of the rows
	if zero.Kind == backends.PSDCone {
		zero, cone = cone, zero
		equations, first = cone.Dim, 0
	}
	m, n := cone.Dim, backends.PSDOrder(cone.Dim)
	if cone.Kind != backends.PSDCone || zero.Kind != backends.ZeroCone || zero.Dim != n || len(p.Q) != m ||
		dense.MaxAbs(p.B[first:first+m]) > 0 {
		return false
	}
	l.n, l.b, l.d = n, make([]float64, m), make([]float64, n)
	at := diagonal(n)
	a, row := make([]float64, n), make([]int, n) // the equations
	c, col := make([]float64, m), make([]int, m) // the entries of Z
	taken := make([]bool, n)
	for j, raw := 0, p.A.RawMatrix(); j < m; j++ {
		entry, equation, by := -1, -1, 0.
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			switch i := raw.Ind[k]; {
			case i >= first && i < first+m && entry < 0 && c[i-first] == 0 && raw.Data[k] != 0:
				entry = i - first
				c[entry], col[entry] = raw.Data[k], j
			case (i < first || i >= first+m) && equation < 0 && !taken[i-equations]:
				equation, by = i-equations, raw.Data[k]
				taken[equation] = true
			default:
				return false
			}
		}
		if entry < 0 {
			return false
		}
		l.b[entry] = -p.Q[j] / c[entry]
		i, found := slices.BinarySearch(at, entry)
		if found != (equation >= 0) || found && !l.fixed(i, -c[entry]*p.B[equations+equation]/by) {
			return false
		}
		if found {
			a[i], row[i] = by, equations+equation
		}
	}
	l.write = func(s, z []float64) *backends.Solution {
		out := &backends.Solution{X: make([]float64, m), S: make([]float64, m+n), Z: make([]float64, m+n)}
		copy(out.S[first:], z)
		copy(out.Z[first:], l.b)
		for k, j := range col {
			out.X[j] = -z[k] / c[k]
		}
		for i, v := range s {
			k := at[i]
			out.Z[first+k] = v
			out.X[col[k]] = p.B[row[i]] / a[i]
			out.Z[row[i]] = -(p.Q[col[k]] + c[k]*v) / a[i]
		}
		return out
	}
	return true
}

// diagonal are the places of it in a scaled lower triangle.
func diagonal(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = svecPlace(n, i, i)
	}
	return at
}

// fixed takes an entry of the diagonal of Z; false for one of no interior.
func (l *lowRank) fixed(i int, d float64) bool {
	l.d[i] = d
	return d > 0 && d <= math.MaxFloat64
}

// turn makes v, of r columns, V.
func (l *lowRank) turn(v []float64, r int) {
	l.v, l.r = v, r
	for _, w := range []*[]float64{&l.kept, &l.cv, &l.grad, &l.u, &l.cu, &l.res, &l.dir} {
		*w = dense.Cleared(*w, len(v))
	}
}

// readB makes the rows of C; false where the time is over, and where what the method takes with r columns is more than
// the limit.
func (l *lowRank) readB(r int, limit int64) bool {
	below := func(visit func(i, j int, v float64)) {
		for j, k := 0, 0; j < l.n && !l.stop.Reached(l.n-j); j++ {
			for i := j + 1; i < l.n; i++ {
				if v := l.b[k+i-j]; v != 0 {
					visit(i, j, v)
				}
			}
			k += l.n - j
		}
	}
	l.start = make([]int32, l.n+1)
	below(func(i, j int, _ float64) { l.start[i+1]++; l.start[j+1]++ })
	for i := range l.n {
		l.start[i+1] += l.start[i]
	}
	n, m := int64(l.n), int64(len(l.b))
	need := 8*(8*n*int64(r)+2*n*n+6*m) + 12*int64(l.start[l.n]) // the judge has two matrices
	if limit > 0 && need > limit || l.stop.Reached(0) {
		return false
	}
	l.ind, l.val = make([]int32, l.start[l.n]), make([]float64, l.start[l.n])
	next := slices.Clone(l.start)
	below(func(i, j int, v float64) {
		v *= math.Sqrt(l.d[i]*l.d[j]) / math.Sqrt2
		for _, e := range [2][2]int{{i, j}, {j, i}} {
			k := next[e[0]]
			l.ind[k], l.val[k] = int32(e[1]), v
			next[e[0]]++
		}
	})
	return !l.stop.Reached(0)
}

func (l *lowRank) of(v []float64, i int) []float64 { return v[i*l.r : (i+1)*l.r] }

// unitLength makes a vector one of length 1, and returns the length it had.
func unitLength(v []float64) float64 {
	size := math.Sqrt(dense.Dot(v, v))
	if size > 0 {
		dense.Scale(v, 1/size)
	}
	return size
}

// row writes row i of CV into g.
func (l *lowRank) row(g, v []float64, i int) {
	clear(g)
	for k := l.start[i]; k < l.start[i+1]; k++ {
		dense.Axpy(l.val[k], l.of(v, int(l.ind[k])), g)
	}
}

// product writes CV into out.
func (l *lowRank) product(out, v []float64) {
	for i := range l.n {
		if l.stop.Reached(l.r * (1 + int(l.start[i+1]-l.start[i]))) {
			return
		}
		l.row(l.of(out, i), v, i)
	}
}

// sweep moves one row after the other to where the value is least.
func (l *lowRank) sweep() {
	g := make([]float64, l.r)
	for range mostSweeps {
		gain, value := 0.0, 0.0
		for i := range l.n {
			if l.stop.Reached(l.r * (1 + int(l.start[i+1]-l.start[i]))) {
				return
			}
			v := l.of(l.v, i)
			l.row(g, l.v, i)
			before := dense.Dot(g, v)
			size := unitLength(g)
			if size == 0 {
				continue
			}
			gain, value = gain+before+size, value+size
			for k := range v {
				v[k] = -g[k]
			}
		}
		if !(gain > sweepGain*value) {
			return
		}
	}
}

// derive computes CV, the multipliers of the rows and the gradient, and returns the value, and the largest row of the
// gradient in units of its multiplier.
func (l *lowRank) derive() (value, worst float64) {
	l.product(l.cv, l.v)
	for i := range l.n {
		v, g := l.of(l.v, i), l.of(l.grad, i)
		copy(g, l.of(l.cv, i))
		of := dense.Dot(g, v)
		dense.Axpy(-of, v, g)
		l.l[i] = -of
		value += of / 2
		worst = max(worst, math.Sqrt(dense.Dot(g, g))/max(-of, math.SmallestNonzeroFloat64))
	}
	return value, worst
}

// curve writes the Hessian times u, whose rows are tangent, into l.cu.
func (l *lowRank) curve(u []float64) {
	l.product(l.cu, u)
	for i := range l.n {
		h, v := l.of(l.cu, i), l.of(l.v, i)
		dense.Axpy(l.l[i], l.of(u, i), h)
		dense.Axpy(-dense.Dot(h, v), v, h)
	}
}

// direction makes l.u a direction of Newton's method by conjugate gradients in units of the multipliers, which end
// where they have lowered the residual to a share, or at a radius, where negative curvature leads, too (Steihaug 1983).
// It returns by how much the quadratic model falls, and whether it is at the radius.
func (l *lowRank) direction(share, radius float64) (falls float64, bounded bool) {
	clear(l.u)
	clear(l.dir)
	for i, g := range l.grad {
		l.res[i] = -g
	}
	weighed := func() (sum float64) {
		for i := range l.n {
			r := l.of(l.res, i)
			sum += dense.Dot(r, r) / l.unit(i)
		}
		return sum
	}
	now := weighed()
	first, scale := now, 0.0
	var uu, ud, dd float64 // products of u and the direction, in units
	for range mostProducts {
		for i := range l.n {
			d := l.of(l.dir, i)
			dense.Scale(d, scale)
			dense.Axpy(1/l.unit(i), l.of(l.res, i), d)
		}
		ud, dd = scale*ud, now+scale*scale*dd
		if l.curve(l.dir); l.stop.Reached(0) {
			break
		}
		bend := dense.Dot(l.dir, l.cu)
		size := now / bend
		if bounded = !(bend > 0) || uu+2*size*ud+size*size*dd >= radius*radius; bounded {
			size = (math.Sqrt(ud*ud+dd*(radius*radius-uu)) - ud) / dd
		}
		dense.Axpy(size, l.dir, l.u)
		falls += size*now - size*size*bend/2
		if bounded {
			break
		}
		dense.Axpy(-size, l.cu, l.res)
		uu += 2*size*ud + size*size*dd
		ud += size * dd
		last := now
		now = weighed()
		scale = now / last
		if !(now > share*share*first) {
			break
		}
	}
	return falls, bounded
}

// unit is the multiplier of a row, as far as it is one.
func (l *lowRank) unit(i int) float64 { return max(l.l[i], l.least) }

// reduce turns V to the axes of V'V, and leaves those out that have less than a share of the largest; false where there
// are none.
func (l *lowRank) reduce(share float64) bool {
	r := l.r
	gram, values := make([]float64, r*r), make([]float64, r)
	for i := range l.n {
		v := l.of(l.v, i)
		for k, a := range v {
			dense.Axpy(a, v, gram[k*r:(k+1)*r])
		}
	}
	if dense.MaxAbs(gram) > float64(l.n) || // NaN among them
		!(gonum.Implementation{}).Dsyev(lapack.EVCompute, blas.Upper, r, gram, r, values, make([]float64, 34*r), 34*r) {
		return false
	}
	first := 0
	for first < r-2 && !(values[first] > share*values[r-1]) {
		first++
	}
	if first == 0 {
		return false
	}
	v := make([]float64, l.n*(r-first))
	for i := range l.n {
		to := v[i*(r-first) : (i+1)*(r-first)]
		for k, a := range l.of(l.v, i) {
			dense.Axpy(a, gram[k*r+first:(k+1)*r], to)
		}
		unitLength(to)
	}
	l.turn(v, r-first)
	return true
}

// newton goes on until rows of the gradient are that small, by steps within a radius that follows what the quadratic
// model is worth.
func (l *lowRank) newton(small float64, o *backends.Options) {
	value, worst := l.derive()
	most := 0.0
	for _, v := range l.l {
		most += max(v, 0)
	}
	l.least = leastUnit * most / float64(l.n)
	most = math.Sqrt(most)
	for radius := most / 4; worst > small && l.iterations < o.MaxIterations && !l.stop.Reached(0); l.iterations++ {
		if o.History {
			bound := -2*value - l.paid()
			l.history = append(l.history, backends.Iteration{Objective: bound, DualObjective: bound,
				Residuals: backends.Residuals{Primal: worst}})
		}
		if l.reduce(lowRankDrop * worst) {
			value, worst = l.derive()
		}
		falls, bounded := l.direction(min(leastLess, math.Sqrt(worst)), radius)
		copy(l.kept, l.v)
		dense.Axpy(1, l.u, l.v)
		for i := range l.n {
			unitLength(l.of(l.v, i))
		}
		before := value
		value, worst = l.derive()
		noise := lastDigits * math.Abs(before)
		switch ratio := (before - value + noise) / (falls + noise); {
		case !(ratio >= 0.25):
			radius /= 4
			if !(ratio > 0.1) {
				copy(l.v, l.kept)
				value, worst = l.derive()
			}
		case ratio > 0.75 && bounded:
			radius = min(2*radius, most)
		}
	}
}

// paid is what the diagonals of B and Z make of the value.
func (l *lowRank) paid() (sum float64) {
	for i, d := range l.d {
		sum += d * l.b[svecPlace(l.n, i, i)]
	}
	return sum
}

// point is that of V in the variables of the program. The slack is larger by so much in units of d, and the multiplier
// has a share of its diagonal in the place of itself, so that both are definite beyond rounding.
func (l *lowRank) point(more, share float64) *backends.Solution {
	s, z := make([]float64, l.n), make([]float64, len(l.b))
	for j, k := 0, 0; j < l.n && !l.stop.Reached(l.r*(l.n-j)); j++ {
		v, by := l.of(l.v, j), math.Sqrt2*(1-share)*math.Sqrt(l.d[j])
		s[j], z[k] = (l.l[j]+more)/l.d[j], l.d[j]
		for i := j + 1; i < l.n; i++ {
			z[k+i-j] = by * math.Sqrt(l.d[i]) * dense.Dot(v, l.of(l.v, i))
		}
		k += l.n - j
	}
	out := l.write(s, z)
	out.Status, out.Iterations, out.Fresh, out.History = backends.Optimal, l.iterations, true, l.history
	return out
}

// solve returns the solution, nil where the time is over or what was found does not pass.
func (l *lowRank) solve(judge *backends.Judge, o backends.Options) *backends.Solution {
	if o.MaxIterations == 0 || o.MaxIterations > lowRankSteps {
		o.MaxIterations = lowRankSteps
	}
	l.sweep()
	l.newton(gradientPart*slackPart*o.Eps, &o)
	sum := 0.0
	for _, v := range l.l {
		sum += v
	}
	if !(sum > 0) {
		return nil
	}
	gap := o.Eps * max(1, math.Abs(l.paid()-sum))
	sol := l.point(slackPart*gap/float64(l.n), multiplierPart*gap/sum)
	if l.stop.Reached(0) || !judge.Optimal(sol.X, sol.S, sol.Z, o.Eps) || judge.Unsettled(sol.X, sol.S, sol.Z, o.Eps) > 1 {
		return nil
	}
	return sol
}
