// Package grouplasso selects the hyperparameters of the group lasso, a weight for the norm of each group of
// coefficients; groups may overlap.
//
// # Formulation
//
// With M groups of features, b^(g) the coefficients of group g, and losses L on validation and l on training rows
// as in package regression, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b^(g)|_2 <= r_g for each group g }
//
// is the decoupled form of choosing lambda in min l(b) + sum_g lambda_g |b^(g)|_2 (M. Yuan, Y. Lin, Model selection and
// estimation in regression with grouped variables, JRSS B 68, 2006). The multipliers of the M radii, all nonnegative,
// are the lambda, called after their groups. Where groups overlap, the features that vanish are unions of groups (R.
// Jenatton, J.-Y. Audibert, F. Bach, Structured variable selection with sparsity-inducing norms, JMLR 12, 2011), which
// gives for example hierarchies: a group for each node of a tree with all below it. Groups that do not overlap have a
// fast fit, others are conic programs.
package grouplasso

import (
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/sgl"
)

// Options are [regression.Options].
type Options = regression.Options

// Model is a group lasso with its data.
type Model struct {
	*regression.Model
	groups *groups.Groups
}

// New checks the rows, split or in folds, the groups and the options. Each feature must be in at least one group. New
// keeps references to data and groups, which must not change.
func New(s dataset.Division, g *groups.Groups, o Options) (*Model, error) {
	m, err := regression.Make("grouplasso", s, o, regression.Kind{}, func(data *regression.Data) (regression.Spec, error) {
		_, p := data.Dims()
		if err := g.Check(p, true); err != nil {
			return regression.Spec{}, err
		}
		spec := regression.Spec{
			Name: "group-lasso", Names: g.Names, R0: []float64{10}, Settings: sgl.Settings,
			Fit: fit(g, p), Units: g.Members, Common: &glm.Weights{Norm: g.Factors()},
			Penalties: func(b, r convex.Affine) []convex.Convex {
				return []convex.Convex{convex.GroupNorms(b, g.Members).MinusAffine(r)}
			},
		}
		if spec.Fit != nil {
			spec.Weights = func(lambda []float64) *glm.Weights { return &glm.Weights{Norm: lambda} }
		}
		return spec, nil
	})
	if err != nil {
		return nil, err
	}
	return &Model{m, g}, nil
}

// fit is the fast fit of the p features where no groups overlap.
func fit(g *groups.Groups, p int) regression.Fit {
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

// Groups are the groups of the features.
func (m *Model) Groups() *groups.Groups { return m.groups }
