package regression

import (
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
)

// GroupLasso has a weight for the norm of each group of coefficients; each feature must be in a group, and groups may
// overlap. With b^(g) the coefficients of group g, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b^(g)|_2 <= r_g for each group g }
//
// is the decoupled form of choosing lambda in min l(b) + sum_g lambda_g |b^(g)|_2 (M. Yuan, Y. Lin, Model selection and
// estimation in regression with grouped variables, JRSS B 68, 2006). The multipliers of the radii, all nonnegative,
// are the lambda, called after their groups. Where groups overlap, the features that vanish are unions of groups (R.
// Jenatton, J.-Y. Audibert, F. Bach, Structured variable selection with sparsity-inducing norms, JMLR 12, 2011), which
// gives for example hierarchies: a group for each node of a tree with all below it. Groups that do not overlap have a
// fast fit, others are conic programs.
func GroupLasso(s dataset.Division, o Options) (*Model, error) {
	g := o.Groups
	return NewNet(s, o, Net{Name: "group-lasso", Takes: []string{"Groups"}, spec: func(data *data) (spec, error) {
		_, p := data.Dims()
		if err := g.Check(p, true); err != nil {
			return spec{}, err
		}
		out := spec{
			Names: g.Names, R0: []float64{10}, Settings: groupSettings,
			Fit: fitOfGroups(g, p), Units: g.Members, Common: &glm.Weights{Norm: g.Factors()},
			Penalties: func(b, r convex.Expr) []convex.Expr {
				return []convex.Expr{convex.Sub(convex.GroupNorms(b, g.Members), r)}
			},
		}
		if out.Fit != nil {
			out.Advice.Modes = adviceOfGroups.Modes
			out.Weights = func(lambda []float64) *glm.Weights { return &glm.Weights{Norm: lambda} }
		}
		return out, nil
	}})
}

// fitOfGroups is the fast fit of the p features where no groups overlap.
func fitOfGroups(g *groups.Groups, p int) fitter {
	size := 0
	for _, members := range g.Members {
		size += len(members)
	}
	if size > p { // each feature is in one at least
		return nil
	}
	return func(train, val fits.Rows, intercept bool, _ sparse.Terms) (lower.Fit, error) {
		return fits.NewGroupLasso(train, val, g.Members, intercept)
	}
}

// SparseGroupLasso has a weight for the norm of each group of coefficients and one for the l1 norm; each feature must
// be in one group. With M groups, and b^(g) the coefficients of group g, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b^(g)|_2 <= r_g for each group g, |b|_1 <= r_{M+1} }
//
// is the decoupled form of choosing lambda in min l(b) + sum_g lambda_g |b^(g)|_2 + lambda_{M+1} |b|_1
// (Gao, Ye, Yin, Zeng, Zhang, ICML 2022, section 4 and Supplement C). The multipliers of the M+1
// radii, all nonnegative, are the lambda; they are called after their groups, the last one l1.
//
// With many groups the hyperparameters outnumber the validation rows, so that the default takes weights of a rung of a
// ladder, see [problems.Rung].
func SparseGroupLasso(s dataset.Division, o Options) (*Model, error) {
	g := o.Groups
	return NewNet(s, o, Net{Name: "sparse-group-lasso", Takes: []string{"Groups"}, spec: func(data *data) (spec, error) {
		_, p := data.Dims()
		if err := g.Check(p, false); err != nil {
			return spec{}, err
		}
		return spec{
			Names: append(slices.Clone(g.Names), "l1"), R0: []float64{10}, Settings: groupSettings, Advice: adviceOfGroups,
			Penalties: func(b, r convex.Expr) []convex.Expr {
				return []convex.Expr{
					convex.Sub(convex.GroupNorms(b, g.Members), convex.Slice(r, 0, g.Len())),
					convex.Sub(convex.Norm1(b), convex.At(r, g.Len())),
				}
			},
			Units: g.Members, Common: &glm.Weights{Norm: g.Factors(), L1: slices.Repeat([]float64{1}, p)},
			Weights: func(lambda []float64) *glm.Weights {
				return &glm.Weights{Norm: lambda[:g.Len()], L1: slices.Repeat(lambda[g.Len():], p)}
			},
			Fit: func(train, val fits.Rows, intercept bool, _ sparse.Terms) (lower.Fit, error) {
				return fits.NewSparseGroupLasso(train, val, g.Members, intercept)
			},
		}, nil
	}})
}

// adviceOfGroups are the range of the paper, the steps of Feng and Simon's program for IGJO, and a value for each group
// in searches: refits on 100 validation rows come out at 35 to 48 so, and at 48 to 50 with a common one (3 seeds).
var adviceOfGroups = problems.Advice{
	Each: true, Modes: []lower.Mode{lower.Adjoint, lower.Truncated},
	Paper: problems.Paper{
		Weights: [2]float64{1e-3, 1e1},
		IGJO: &hypergradient.Backtracking{
			Start: 0.01, MaxIter: 50, First: 1, Shrink: 0.1, Least: 1e-6, Share: 1e-3, Enough: 5e-4, Floor: 1e-6,
		},
	},
}

// groupSettings are those of the paper and ours for free weights of models with a hyperparameter for each group.
//
// Ours start from a path. The penalty is large from the start: with a small one the iterates leave the lower-level
// solutions at once and interpolate the validation rows, while the refits, which a user is given, change little. The
// gap is closed.
func groupSettings(path bool) (paper, standard dca.Settings) {
	// rho is not in the paper but in its authors' program.
	paper = dca.Settings{Tol: 0.05, Rho: 5e-3, Alpha0: 1, Delta: 5, CAlpha: 0.1, MaxIter: 100}
	standard = paper
	standard.Alpha0, standard.Tol, standard.GapTol, standard.MaxIter = 100, 1e-2, 1e-4, 200
	standard.PathStart = path
	return paper, standard
}
