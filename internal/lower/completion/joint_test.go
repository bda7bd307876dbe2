package completion

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
)

// jointOf is the completion with training and validation entries.
func jointOf(train, val Data, intercept bool) (*Joint, error) {
	c, err := New(train, intercept)
	if err != nil {
		return nil, err
	}
	return c.Joint(val)
}

// newJointOf divides the entries of a sample among training and validation.
func newJointOf(t testing.TB, d sample, intercept bool) (j *Joint, train, val Data) {
	t.Helper()
	pick := func(rest int) Data {
		out := Data{M: d.m, N: d.n, Groups: d.groups}
		var rows []float64
		for k := range d.y {
			if (k%3 == 2) != (rest == 1) {
				continue
			}
			out.Row, out.Col, out.Y = append(out.Row, d.row[k]), append(out.Col, d.col[k]), append(out.Y, d.y[k])
			if d.x != nil {
				rows = append(rows, d.x.RawRowView(k)...)
			}
		}
		out.X = design.FromColumns(len(out.Y), 0, nil)
		if d.x != nil {
			out.X = design.New(mat.NewDense(len(out.Y), len(rows)/len(out.Y), rows))
		}
		return out
	}
	train, val = pick(0), pick(1)
	j = must.Of(jointOf(train, val, intercept))(t)
	return j, train, val
}

// conicJoint solves a joint fit as a conic program.
func conicJoint(t testing.TB, train, val Data, intercept bool, w *bilevel.JointWeights, centre *mat.Dense, cb []float64,
	c0 float64) float64 {
	t.Helper()
	m := convex.NewModel()
	p := train.X.Columns()
	g, b, b0 := m.Vector("G", train.M*train.N), m.Vector("b", p), m.Vector("b0", 1)
	if !intercept {
		m.Eq("", b0, 0)
		c0 = 0
	}
	loss := func(d Data) convex.Expr {
		index, x := make([]int, len(d.Y)), mat.NewDense(len(d.Y), max(1, p), nil)
		for k := range index {
			index[k] = d.Row[k]*d.N + d.Col[k]
		}
		for l := range p {
			e := make([]float64, len(d.Y))
			d.X.Axpy(1, l, e)
			x.SetCol(l, e)
		}
		r := convex.Sub(convex.Add(convex.Pick(g, index), b0), d.Y)
		if p > 0 {
			r = convex.Add(r, convex.Mul(x, b))
		}
		return convex.Scale(0.5/float64(len(d.Y)), convex.SumSquares(r))
	}
	f := convex.Scale(w.Penalties[0], convex.NuclearNorm(convex.Reshape(g, train.M, train.N)))
	for k, group := range train.Groups {
		f = convex.Add(f, convex.Scale(w.Penalties[1+k], convex.GroupNorms(b, [][]int{group})))
	}
	f = convex.Add(f, convex.Scale(w.Train, loss(train)))
	if w.Validation > 0 {
		f = convex.Add(f, convex.Scale(w.Validation, loss(val)))
	}
	if w.Rho > 0 {
		f = convex.Add(f, convex.Scale(w.Rho/2, convex.Add(convex.SumSquares(convex.Sub(g, centre.RawMatrix().Data)),
			convex.SumSquares(convex.Sub(b, cb)), convex.SumSquares(convex.Sub(b0, c0)))))
	}
	m.Minimize(f)
	return lowertest.Conic(t, m, 1e-9).Objective
}

// The joint fit reaches the optimum of the conic program, its bound does not exceed it, and the derivatives of F are
// differences of its values.
func TestJointAgainstConic(t *testing.T) {
	for k, shape := range []struct{ m, n, p int }{{9, 7, 0}, {6, 11, 6}, {10, 8, 3}} {
		for _, intercept := range []bool{false, true} {
			d := draw(uint64(20+k), shape.m, shape.n, shape.p, 0.6)
			j, train, val := newJointOf(t, d, intercept)
			rng := rand.New(rand.NewPCG(uint64(k), 4))
			factors := normals(rng, 2*(d.m+d.n))
			var full mat.Dense
			full.Mul(mat.NewDense(d.m, 2, factors[:2*d.m]), mat.NewDense(d.n, 2, factors[2*d.m:]).T())
			cb, c0 := normals(rng, shape.p), 0.3
			centre := [][]float64{cb, factors}
			if intercept {
				centre = append(centre, []float64{c0})
			}
			top := j.LambdaMax()
			for _, w := range []*bilevel.JointWeights{
				{Train: 1}, {Train: 2, Validation: 1, Rho: 1e-2, Centre: centre}, {Train: 0.1, Validation: 1, Rho: 1,
					Centre: centre}, {Train: 3, Validation: 0.5, Rho: 1e-3, Centre: centre},
			} {
				for _, share := range []float64{0.5, 0.1} {
					both := share * top * (w.Train + w.Validation)
					w.Penalties = weights(both, 0.6*both, d.groups)
					want := conicJoint(t, train, val, intercept, w, &full, cb, c0)
					s := j.Joint()
					solved := func(w *bilevel.JointWeights) (*bilevel.JointPoint, bilevel.JointPoint) {
						for range 60 {
							pt := must.Of(s.Solve(context.Background(), w))(t)
							require.NotNil(t, pt)
							c := must.Of(s.Check(context.Background(), w))(t)
							if !c.Grew {
								pt = must.Of(s.Solve(context.Background(), w))(t)
								return pt, c
							}
						}
						t.Fatal("columns are taken in without end")
						return nil, bilevel.JointPoint{}
					}
					pt, c := solved(w)
					curvature := s.Curvature(context.Background(), w)
					scale := math.Max(want, j.unit)
					for back, way := j.Joint(), 0; way < 3; way++ { // with columns that are gone at larger weights
						v := *w
						v.Tol, v.Penalties = 1e-9*scale, slices.Clone(w.Penalties)
						if way == 1 {
							floats.Scale(3, v.Penalties)
						}
						if at := must.Of(back.Solve(context.Background(), &v))(t); way != 1 {
							require.InDelta(t, want, at.Objective, 1e-5*scale)
						}
					}
					require.InDelta(t, want, c.Objective, 1e-6*scale)
					require.LessOrEqual(t, c.Objective-c.Gap, want+1e-7*scale)
					require.Less(t, c.Gap, 1e-5*scale)
					v := j.Values(s.X())
					require.InDelta(t, v.Train, c.Train, 1e-9*scale)
					require.InDelta(t, v.Penalties[0], c.Penalties[0], 1e-6*(1+v.Penalties[0]))
					values := append([]float64{pt.Train}, pt.Penalties...)
					base := append([]float64{w.Train}, w.Penalties...)
					for i := range values {
						h := 1e-3 * base[i]
						at := func(sign float64) *bilevel.JointPoint {
							v := *w
							u := &v
							u.Penalties = slices.Clone(w.Penalties)
							if i == 0 {
								u.Train += sign * h
							} else {
								u.Penalties[i-1] += sign * h
							}
							pt, _ := solved(u)
							return pt
						}
						up, down := at(1), at(-1)
						require.InDelta(t, values[i], (up.Objective-down.Objective)/(2*h), 2e-3*(1e-2+values[i]))
						if w.Rho > 0 {
							a, b := append([]float64{up.Train}, up.Penalties...), append([]float64{down.Train}, down.Penalties...)
							for l := range a {
								require.InDelta(t, -(a[l]-b[l])/(2*h), curvature[i][l],
									0.05*(math.Abs(curvature[i][l])+math.Abs(curvature[i][i]*curvature[l][l])+0.5), "%d %d", i, l)
							}
						}
					}
				}
			}
		}
	}
}

// weights are those of the nuclear norm and of each group.
func weights(nuclear, norm float64, groups [][]int) []float64 {
	return append([]float64{nuclear}, slices.Repeat([]float64{norm}, len(groups))...)
}

// factoredProblem is a sample as a large completion.
func factoredProblem(t testing.TB, d sample, intercept bool) *Problem {
	c := d.problem(t, intercept)
	c.interior = nil
	c.joint = must.Of(newJoint(d.data(), intercept))(t)
	return c
}

// The gap is that of a dual point that a dense singular value decomposition makes feasible, and the solution is that of
// the interior-point method.
func TestFactoredAgainstInterior(t *testing.T) {
	samples := map[string]sample{
		"features": draw(7, 14, 10, 6, 0.5), "plain": draw(8, 20, 12, 0, 0.4), "wide": draw(9, 4, 30, 3, 0.7),
		"row": draw(10, 1, 25, 0, 0.9), "rank 2": draw(11, 12, 12, 0, 1.1),
	}
	empty := draw(12, 10, 10, 0, 0.5)
	empty.m, empty.n = 14, 13 // rows and columns without entries
	samples["empty"] = empty
	same := draw(13, 9, 8, 0, 0.6)
	for k := range same.y {
		same.y[k] = 2.5
	}
	samples["equal"] = same
	zero := draw(14, 9, 8, 0, 0.6)
	clear(zero.y)
	samples["zero"] = zero
	for name, d := range samples {
		for _, intercept := range []bool{false, true} {
			want, got := d.problem(t, intercept), factoredProblem(t, d, intercept)
			top := want.LambdaMax()
			require.InDelta(t, top, got.LambdaMax(), 1e-10*(1+top), name)
			if top < 1e-10 { // equal entries with an intercept, or zeros
				top = 1
			}
			var start *Solution
			for _, share := range []float64{1.01, 0.5, 0.1, 0.02} {
				w := weights(share*top, 0.7*share*top, d.groups)
				a := must.Of(want.Solve(context.Background(), w, 1e-10, nil))(t)
				b := must.Of(got.Solve(context.Background(), w, 1e-9, start))(t)
				start = b
				scale := want.groups.Scale
				require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, b.Status,
					"%s %v %g: gap %g", name, intercept,
					share, b.Gap)
				require.LessOrEqual(t, b.Gap, 1e-9*scale+1e-300)
				require.InDelta(t, a.Objective, b.Objective, 2e-9*scale+1e-15, "%s %v %g", name, intercept, share)

				// a certificate by a dense decomposition
				full := mat.NewDense(d.m, d.n, nil)
				r := b.Residual
				N := float64(len(d.y))
				for k, v := range r {
					full.Set(d.row[k], d.col[k], full.At(d.row[k], d.col[k])+v/N)
				}
				var svd mat.SVD
				require.True(t, svd.Factorize(full, mat.SVDNone))
				shorter := 1.0
				if s := svd.Values(nil)[0]; s > w[0] {
					shorter = w[0] / s
				}
				for _, group := range d.groups {
					sum := 0.0
					for _, l := range group {
						g := floats.Dot(mat.Col(nil, l, d.x), r) / N
						sum += g * g
					}
					if s := math.Sqrt(sum); s > w[1] {
						shorter = math.Min(shorter, w[1]/s)
					}
				}
				bound := (shorter*floats.Dot(r, d.y) - shorter*shorter/2*floats.Dot(r, r)) / N
				require.LessOrEqual(t, b.Objective-bound, 1.1e-9*scale+1e-14, "%s %v %g", name, intercept, share)
			}
		}
	}
}

// Distances between points are those of what the factors stand for.
func TestSquared(t *testing.T) {
	d := draw(15, 7, 5, 0, 0.7)
	j, _, _ := newJointOf(t, d, true)
	rng := rand.New(rand.NewPCG(3, 3))
	draw := func(k int) ([][]float64, *mat.Dense) {
		v := normals(rng, k*12)
		full := mat.NewDense(7, 5, nil)
		if k > 0 {
			full.Mul(mat.NewDense(7, k, v[:7*k]), mat.NewDense(5, k, v[7*k:]).T())
		}
		return [][]float64{{}, v, {rng.NormFloat64()}}, full
	}
	for _, ranks := range [][2]int{{2, 1}, {0, 3}, {0, 0}, {4, 4}} {
		x, a := draw(ranks[0])
		y, b := draw(ranks[1])
		var diff mat.Dense
		diff.Sub(a, b)
		f, z := mat.Norm(&diff, 2), x[2][0]-y[2][0]
		require.InDelta(t, f*f+z*z, j.Squared(x, y), 1e-10*(1+f*f))
	}
}

// A solve asks its context within an iteration, too, and ends with the look that says so.
func TestFactoredCancelled(t *testing.T) {
	d := draw(16, 300, 250, 0, 0.3)
	c := d.problem(t, false)
	require.NotNil(t, c.joint)
	for _, n := range []int{0, 1, 5, 20, 100} {
		ctx := stoptest.After(n)
		s := must.Of(c.Solve(ctx, []float64{0.01 * c.LambdaMax()}, 1e-12, nil))(t)
		require.Equal(t, outcome.Cancelled, s.Status, n)
		require.LessOrEqual(t, ctx.Looks(), n+12, "it asked again and again")
	}
}

// A solver without columns finds them as soon as the weights ask for some, and not only at the next check.
func TestFirstColumns(t *testing.T) {
	d := draw(7, 14, 10, 6, 0.5)
	c := d.problem(t, false)
	j := c.joint
	s := j.Joint()
	for _, share := range []float64{1.01, 0.4} {
		w := weights(share*c.LambdaMax(), share*c.LambdaMax(), d.groups)
		want := must.Of(c.Solve(context.Background(), w, 1e-9, nil))(t)
		weights := bilevel.JointWeights{Train: 1, Tol: 1e-9, Gap: 1e-5, Penalties: w}
		pt := must.Of(s.Solve(context.Background(), &weights))(t)
		require.InDelta(t, want.Objective, pt.Objective, 1e-5*want.Objective)
		require.Equal(t, want.Left == nil, pt.Penalties[0] == 0)
	}
}
