package singular

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// response says how the other variables y and the multipliers of active constraints move with X. With the constraints that are
// active at the point as equations, Newton's method on the optimality conditions asks for
//
//	[H_XX H_Xy A_X'] [D ]     [r_X]
//	[H_yX H_yy A_y'] [dy] = - [ 0 ]
//	[A_X  A_y  0   ] [dm]     [ 0 ]
//
// as the restricted program has made the other residuals vanish. dy and dm are
// eliminated by a factorisation of [H_yy A_y'; A_y -delta], and what is left is
// positive definite in D.
type response struct {
	ny      int
	tangent []*vector // of each active constraint, its derivative in X along the tangent space; nil: none
	lu      []float64 // by rows: L below the diagonal, U on and above it
	pivots  []int     // row i of LU is row pivots[i] of the block
	work    []float64
}

const (
	// maxActive bounds the active constraints, and maxTangent those that X is in.
	maxActive, maxTangent = 1000, 20
	// delta is added to the diagonal of the eliminated block, relative to its largest entry, against dependent constraints.
	delta = 1e-9
	// constraintGive is the inverse of the weight that a constraint on X alone gets, in units of the
	// curvature: a hard one would spoil the conjugate gradients.
	constraintGive = 1e-4
)

// newResponse finds the active constraints. It returns nil where the response is not
// computed: too many unknowns, or a cone whose boundary it does not know.
func newResponse(p *compile.Program, f *fullPoint, h *curvature, n *tangent, weights []float64) *response {
	if h.fixed == nil {
		return nil
	}
	b := &activeRows{p: p, f: f, h: h, n: n, ok: true}
	hessian := h.hessianY(weights)
	residual, squares := map[*compile.Group]bool{}, map[*compile.Group][]*compile.Curve{}
	for _, c := range p.Curves {
		if c.Rows != nil {
			residual[c.Rows] = true
		}
		if c.Cone != nil {
			squares[c.Cone] = append(squares[c.Cone], &c)
		}
	}
	own := map[*compile.Group]float64{}
	for _, mv := range p.Matrices {
		for _, use := range mv.Uses {
			own[use.G] = math.NaN() // of another matrix, which stays where it is
			if mv == h.mv {
				own[use.G] = math.Abs(use.Scale)
			}
		}
	}
	for _, g := range p.Groups {
		s, z := f.rows(f.s, g), f.rows(f.z, g)
		scale, nuclear := own[g]
		switch {
		case residual[g]:
		case nuclear && math.IsNaN(scale):
		case nuclear: // scale |X|_* - h
			if y, x := b.gradient(&g.Expr, unit(g.Expr.N, 0, -1)); z[0] > 0 {
				norm := n.project(x)
				floats.AddScaled(norm.p.data, scale, n.u.data)
				b.add(y, norm)
			}
		case g.Kind == backends.ZeroCone:
			b.all(g)
		case g.Kind == backends.NonnegativeCone:
			for r := range g.Expr.N {
				if z[r] > s[r] {
					b.row(&g.Expr, r)
				}
			}
		case g.Kind == backends.SecondOrderCone:
			b.secondOrder(g, s, z, squares[g], hessian)
		default:
			return nil
		}
		if !b.ok {
			return nil
		}
	}
	return b.eliminate(hessian)
}

// unit returns a vector with one entry that is not zero.
func unit(n, at int, v float64) []float64 {
	e := make([]float64, n)
	e[at] = v
	return e
}

// activeRows collects the derivatives of active constraints.
type activeRows struct {
	p       *compile.Program
	f       *fullPoint
	h       *curvature
	n       *tangent
	y       [][]float64
	x       []*vector
	coupled int
	ok      bool
}

// all adds all rows of a group.
func (b *activeRows) all(g *compile.Group) {
	for r := range g.Expr.N {
		b.row(&g.Expr, r)
	}
}

// secondOrder adds a cone if it is active: all its rows where s is at its apex.
func (b *activeRows) secondOrder(g *compile.Group, s, z []float64, squares []*compile.Curve, hessian *mat.SymDense) {
	inS, inZ := floats.Norm(s[1:], 2), floats.Norm(z[1:], 2)
	switch {
	case !(z[0]+inZ > s[0]-inS):
	case squares != nil:
		b.squares(g, squares)
	case z[0]-inZ > s[0]+inS:
		b.all(g)
	default:
		b.norm(g, s, z[0], hessian)
	}
}

// gradient returns the derivatives of z'expr in y and in X, by rows, nil for none.
func (b *activeRows) gradient(expr *affine.Expr, z []float64) (y, x []float64) {
	y = make([]float64, b.h.ny)
	expr.Adjoint(1, z, func(v *affine.Variable) []float64 {
		if off := b.h.offset[v.ID]; off >= 0 {
			return y[off : off+v.N]
		}
		if v == b.h.mv.V && x == nil {
			x = make([]float64, v.N)
		}
		if v == b.h.mv.V {
			return x
		}
		return nil
	})
	return y, x
}

func (b *activeRows) add(y []float64, x *vector) {
	b.y, b.x = append(b.y, y), append(b.x, x)
	if x != nil {
		b.coupled++
	}
	b.ok = b.ok && len(b.y) <= maxActive && b.coupled <= maxTangent
}

// meet adds a constraint with the derivatives y and x, by rows, nil for none.
func (b *activeRows) meet(y, x []float64) {
	if x == nil {
		b.add(y, nil)
	} else {
		b.add(y, b.n.project(x))
	}
}

// row adds row r of an expression.
func (b *activeRows) row(expr *affine.Expr, r int) {
	if !b.ok {
		return
	}
	y, x := b.gradient(expr, unit(expr.N, r, 1))
	b.meet(y, x)
}

// squares adds sum_k w_k |a_k|^2 - h, whose curvature is in the curves.
func (b *activeRows) squares(g *compile.Group, list []*compile.Curve) {
	z := make([]float64, g.Expr.N)
	z[0], z[1] = -1, -1 // (h-c)/2 + (h+c)/2 = h
	y, x := b.gradient(&g.Expr, z)
	for _, c := range list {
		a := c.Arg.Constant()
		c.Arg.Forward(a, b.f.in(b.f.x))
		floats.Scale(2*c.Scale, a)
		dy, dx := b.gradient(&c.Arg, a)
		floats.Add(y, dy)
		switch {
		case x == nil:
			x = dx
		case dx != nil:
			floats.Add(x, dx)
		}
	}
	b.meet(y, x)
}

// norm adds |a| - h for a cone with rows (h, a) whose head has the multiplier z, and its
// curvature z/|a| A'(I - aa'/|a|^2)A. That in X is left out.
func (b *activeRows) norm(g *compile.Group, s []float64, z float64, hessian *mat.SymDense) {
	length := floats.Norm(s[1:], 2)
	if !(length > 0) {
		return
	}
	d := make([]float64, g.Expr.N)
	d[0] = -1
	for r := 1; r < len(d); r++ {
		d[r] = s[r] / length
	}
	y, x := b.gradient(&g.Expr, d)
	b.meet(y, x)
	const most = 500 // rows; a longer one is flat
	if len(d) > most {
		return
	}
	along := mat.NewVecDense(b.h.ny, nil)
	for r := 1; r < len(d); r++ {
		row, _ := b.gradient(&g.Expr, unit(len(d), r, 1))
		v := mat.NewVecDense(len(row), row)
		hessian.SymRankOne(hessian, z/length, v)
		along.AddScaledVec(along, d[r], v)
	}
	hessian.SymRankOne(hessian, -z/length, along)
}

// eliminate factors [H_yy A_y'; A_y -delta].
func (b *activeRows) eliminate(hessian *mat.SymDense) *response {
	ny, rows := b.h.ny, len(b.y)
	k := mat.NewDense(ny+rows, ny+rows, nil)
	top := 0.0
	for i := range ny {
		for j := range ny {
			k.Set(i, j, hessian.At(i, j))
			top = max(top, math.Abs(hessian.At(i, j)))
		}
	}
	for r, y := range b.y {
		for j, v := range y {
			k.Set(ny+r, j, v)
			k.Set(j, ny+r, v)
			top = max(top, math.Abs(v))
		}
	}
	for i := range ny {
		k.Set(i, i, k.At(i, i)+delta*top)
	}
	for r, y := range b.y {
		shift := delta * top
		if b.x[r] != nil && floats.Norm(y, 2) <= 1e-6*top { // X alone
			shift = constraintGive * b.x[r].dot(*b.x[r]) / b.n.mean
		}
		k.Set(ny+r, ny+r, -shift)
	}
	size := ny + rows
	norm := mat.Norm(k, 1)
	raw := k.RawMatrix()
	swaps, work, iwork := make([]int, size), make([]float64, 4*size), make([]int, size)
	if !lapack64.Getrf(raw, swaps) {
		return nil
	}
	if c := lapack64.Gecon(lapack.MaxColumnSum, raw, norm, work, iwork); !(c > 1e-15) {
		return nil
	}
	out := &response{ny: ny, tangent: b.x, lu: raw.Data, pivots: make([]int, size), work: make([]float64, size)}
	for i := range out.pivots {
		out.pivots[i] = i
	}
	for i, j := range swaps {
		out.pivots[i], out.pivots[j] = out.pivots[j], out.pivots[i]
	}
	return out
}

// solve replaces the right-hand side q by the movement (dy, dm) that goes with it.
func (r *response) solve(q []float64) {
	x := r.work
	for i, p := range r.pivots {
		x[i] = q[p]
	}
	n := len(q)
	for i := range n { // L has a unit diagonal
		x[i] -= floats.Dot(r.lu[i*n:i*n+i], x[:i])
	}
	for i := n - 1; i >= 0; i-- {
		x[i] = (x[i] - floats.Dot(r.lu[i*n+i+1:(i+1)*n], x[i+1:])) / r.lu[i*n+i]
	}
	copy(q, x)
}
