package completion

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// Problem is the known entries prepared for many solves, which do not change it and may run at the same time.
type Problem struct {
	groups   *grouped
	m, n     int
	row, col []int
	interior *interiorData // of small completions, else nil
	joint    *Joint
}

// Data are the N known entries of an m x n matrix.
type Data struct {
	// M and N are the numbers of rows and columns of the matrix.
	M, N int
	// Known entry k stands at (Row[k], Col[k]) and has the value Y[k]. An entry may be known more than once.
	Row, Col []int
	Y        []float64
	// X has a row of features for each known entry, and no columns where there are no features.
	X *design.Matrix
	// Groups lists the features of each group; each feature is in one.
	Groups [][]int
}

// Solution is a point, and how near to the optimum it is proven to be.
type Solution struct {
	Status outcome.Stop
	// B are the coefficients of the features, B0 the intercept.
	B  []float64
	B0 float64
	// G = Left Right', where Left is m x k and Right n x k; both are nil where G is zero.
	Left, Right *mat.Dense
	// Residual is y - X b - G_known - b0.
	Residual []float64
	// Objective is the value at the point, Gap bounds its distance from the optimum.
	Objective, Gap float64
	// Outer counts outer iterations on the factors, Newton the steps of the interior-point method.
	Outer, Newton int
}

// Dense is G of a solution, by rows.
func (c *Problem) Dense(s *Solution) []float64 {
	g := mat.NewDense(c.m, c.n, nil)
	if s.Left != nil {
		g.Mul(s.Left, s.Right.T())
	}
	return g.RawMatrix().Data
}

// New checks and prepares the data, whose slices are kept.
func New(d Data, intercept bool) (*Problem, error) {
	groups, err := newGrouped(d.X, d.Y, d.Groups, intercept)
	if err != nil {
		return nil, fmt.Errorf("completion: %w", err)
	}
	m, n, row, col := d.M, d.N, d.Row, d.Col
	c := &Problem{groups: groups, m: m, n: n, row: row, col: col}
	if c.joint, err = newJoint(d, intercept); err != nil {
		return nil, err
	}
	if Small(len(row), 0, m, n) {
		c.interior = newInteriorData(c)
	}
	return c, nil
}

// Small says whether so many training and validation entries of an m x n matrix are few enough for the interior-point
// method. A step factors a matrix of the order of the one, and several of the order of the other; that of a subproblem
// has those of both.
func Small(train, val, m, n int) bool {
	return train <= interiorMost && train+val <= 2*interiorMost && max(m, n) <= interiorOrder
}

// LambdaMax is the smallest weight that, common to all penalties, makes G and b zero.
func (c *Problem) LambdaMax() float64 { return c.joint.LambdaMax() }

// Relative is a gap in units of the objective at zero, that of tolerances.
func (c *Problem) Relative(gap float64) float64 { return c.groups.Relative(gap) }

// check says what is wrong with weights or bounds, of which there are one of the nuclear norm and one for each group,
// all positive, or with a tolerance.
func (c *Problem) check(name string, of []float64, tol float64) error {
	if !(tol >= 0) || math.IsInf(tol, 1) {
		return fmt.Errorf("completion: tolerance %g, expected a finite number that is not negative", tol)
	}
	if groups := len(c.groups.Members); len(of) != 1+groups {
		return fmt.Errorf("completion: %d %ss, expected one of the nuclear norm and one for each of %d groups", len(of), name,
			groups)
	}
	for k, v := range of {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("completion: %s %d of a completion is %g, expected a positive finite number", name, k, v)
		}
	}
	return nil
}

// Solve returns a solution at the weights, w_0 and one for each group. The tolerance bounds the duality gap at the end,
// relative to the objective at b = 0 and G = 0 (with an intercept, at its best b0); start is a solution of the same
// problem at other weights to start from, or nil. The error is for input without meaning; how the solve ended is the
// status of the solution.
func (c *Problem) Solve(ctx context.Context, w []float64, tol float64, start *Solution) (*Solution, error) {
	if err := c.check("weight", w, tol); err != nil {
		return nil, err
	}
	if start != nil {
		if p := c.groups.X.Columns(); len(start.B) != p {
			return nil, fmt.Errorf("completion: the start has %d coefficients, expected %d", len(start.B), p)
		}
	}
	newtons := 0
	if c.interior != nil {
		out := c.interiorSolve(ctx, w, tol)
		if out.Status != numerics.Exhausted {
			return out, nil
		}
		start, newtons = out, out.Newton
	}
	out := c.solveFactored(ctx, w, tol, start)
	out.Newton = newtons
	return out, nil
}

// solveFactored solves by the factors alone.
func (c *Problem) solveFactored(ctx context.Context, w []float64, tol float64, start *Solution) *Solution {
	f := c.joint.at(start)
	f.end.Begin(ctx, 0)
	defer f.end.End()
	f.weigh(&bilevel.JointWeights{Train: 1, Penalties: w})
	out := &Solution{B: f.x}
	out.Objective, out.Gap, out.Status, out.Outer = f.minimize(tol * c.groups.Scale)
	if f.k > 0 {
		out.Left, out.Right = mat.NewDense(c.m, f.k, f.a), mat.NewDense(c.n, f.k, f.b)
	}
	c.finish(out)
	return out
}

// finish computes the residual and the intercept, which is the best one, of a solution.
func (c *Problem) finish(s *Solution) {
	g := c.groups
	s.Residual = make([]float64, len(g.Y))
	g.X.Mul(s.Residual, s.B)
	for k, v := range s.Residual {
		if s.Left != nil {
			v += floats.Dot(s.Left.RawRowView(c.row[k]), s.Right.RawRowView(c.col[k]))
		}
		s.Residual[k] = g.Y[k] - v
	}
	if s.B0 = 0; g.Intercept {
		mean := floats.Sum(s.Residual) / float64(len(g.Y))
		floats.AddConst(-mean, s.Residual)
		s.B0 = g.YMean + mean
	}
}
