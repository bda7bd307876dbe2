// Package matcomp selects the hyperparameters of low-rank matrix completion with
// row and column features.
//
// # Formulation
//
// Some entries M_ij of an m x n matrix are known. With features x_i of the rows and z_j
// of the columns, in groups g, the model of an entry is
//
//	M_ij = b0 + x_i'theta + z_j'beta + Gamma_ij
//
// with a matrix Gamma of low rank. The bilevel program
//
//	minimize   L(theta, beta, Gamma)   over theta, beta, Gamma and r >= 0
//	subject to theta, beta, Gamma solve
//	           min { l : |Gamma|_* <= r_0, |theta_g| <= r_g, |beta_g| <= r_(G+g) }
//
// with l and L half the mean squared error over training and validation
// entries, is the decoupled form of choosing a weight for the nuclear norm |Gamma|_*, the
// sum of the singular values, and for the Euclidean norm of each group (Gao, Ye, Yin, Zeng, Zhang, ICML
// 2022, after Feng and Simon, Gradient-based regularization parameter selection
// for problems with nonsmooth penalty functions, 2018). The multipliers of the radii, all nonnegative,
// are these weights. Features and their groups are optional, the matrix need not be square,
// and any entries may be known. b0, off by default, is not penalised.
//
// # Multipliers at a radius of zero
//
// VF-iDCA with the paper's start puts many groups at r_g = 0, where the multiplier of a group is not unique: with G the
// gradient of l in its coefficients, every number from |G| on is one. The recommended settings take the least one, as
// package dca keeps radii just above zero, with which the bound V_k of the subproblem is smallest. The paper's settings
// take a larger one ([dca.Settings.HoldZeros]), so that groups at zero stay there, which is what comes of multipliers
// as SCS returns them.
//
// # Size
//
// Gamma is one variable of m n entries, but the conic programs that are solved restrict
// it to the few singular directions that matter (package convex, working sets), so
// that their size is that of the rank and of the number of known entries.
package matcomp

import (
	"math"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// Options of the model; the zero value is the model of the paper.
type Options struct {
	// Intercept adds the constant b0.
	Intercept bool
	// Standardize works on values and features of standard deviation 1, and with
	// Intercept of mean 0, and undoes it in the result.
	Standardize bool
}

// Model is a matrix completion with its data.
type Model struct {
	data      *Data
	intercept bool
	r0        []float64
	u         units
}

// New checks the data and the options. It keeps a reference to the data, which must not change.
func New(d *Data, o Options) (*Model, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	m := &Model{data: d, intercept: o.Intercept, u: d.units(o)}
	m.r0 = slices.Repeat([]float64{0.1}, len(m.Names())) // the paper's: of Gamma, and of the groups
	m.r0[0] = 1
	return m, nil
}

// Name is the name on the command line.
func (m *Model) Name() string { return "matrix-completion" }

// Names are the names of the hyperparameters in the order of the radii: nuclear, then row_ and col_ with
// the names of the groups.
func (m *Model) Names() []string {
	names := []string{"nuclear"}
	for _, s := range m.u.sides {
		if s.X != nil {
			for _, g := range s.Groups.Names {
				names = append(names, s.name+"_"+g)
			}
		}
	}
	return names
}

// axes are those of searches: the weight of the nuclear norm and a common one of all groups, or each its own.
func (m *Model) axes(each bool) []problems.Axis {
	axes := []problems.Axis{{Name: "nuclear", Members: []int{0}}}
	names := m.Names()
	var all []int
	for j := 1; j < len(names); j++ {
		all = append(all, j)
		if each {
			axes = append(axes, problems.Axis{Name: names[j], Members: []int{j}})
		}
	}
	if !each && all != nil {
		axes = append(axes, problems.Axis{Name: "groups", Members: all})
	}
	return axes
}

// Advice is what methods ask of the model, with the range and the start of the paper.
func (m *Model) Advice() problems.Advice {
	return problems.Advice{
		Axes: m.axes, Predicts: true, Fit: m.Penalised, Modes: []lower.Mode{lower.Adjoint}, Retrain: m.retrain,
		Paper: problems.Paper{Weights: [2]float64{math.Pow(10, -3.5), 1e-1}, Start: 0.005},
	}
}

// Program is the bilevel program. Its variables are the coefficients, theta and then beta, none without features, Gamma
// by rows, and with an intercept b0.
func (m *Model) Program() dca.Program {
	d, rise := m.data, pathRise
	if m.large() {
		rise = 1
	}
	return dca.Program{
		Name: m.Name(), H0: m.r0, Radii: len(m.r0), Path: m.path(), PathRise: rise,
		Build: func(model *convex.Model, h convex.Expr) dca.Level {
			p := d.Row.count() + d.Col.count()
			x := []*convex.Variable{model.Vector("coefficients", p), model.Vector("Gamma", d.Rows*d.Cols)}
			if m.intercept {
				x = append(x, model.Vector("b0", 1))
			}
			bounds := []convex.Expr{convex.Sub(convex.NuclearNorm(convex.Reshape(x[1], d.Rows, d.Cols)), convex.At(h, 0))}
			if p > 0 {
				bounds = append(bounds, convex.Sub(convex.GroupNorms(x[0], m.groups()), convex.Slice(h, 1, len(m.r0))))
			}
			train := m.residuals(d.Train, x)
			return dca.Level{
				X: x, Train: meanSquare(train), Validation: meanSquare(m.residuals(d.Val, x)),
				Residuals: []convex.Expr{train}, Constraints: bounds,
			}
		},
	}
}

// meanSquare is |r|^2 / (2 n).
func meanSquare(r convex.Expr) convex.Expr {
	return convex.Scale(0.5/float64(r.Len()), convex.SumSquares(r))
}

// residuals are those of some entries in the unit of the model.
func (m *Model) residuals(entries []Entry, vars []*convex.Variable) convex.Expr {
	index, y := make([]int, len(entries)), make([]float64, len(entries))
	for k, e := range entries {
		index[k], y[k] = e.Row*m.data.Cols+e.Col, m.u.value(e.Value)
	}
	r := convex.Sub(convex.Pick(vars[1], index), y)
	if x := m.u.features(entries); x != nil {
		r = convex.Add(r, convex.Mul(x, vars[0]))
	}
	if m.intercept {
		r = convex.Add(r, vars[2])
	}
	return r
}

// Evaluate scores values of the variables by half the mean squared error over validation and
// test entries, in the user's units.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	p, _ := m.predict(x)
	e := problems.Errors{Validation: halfMeanSquare(p, m.data.Val)}
	if len(m.data.Test) > 0 {
		t := halfMeanSquare(p, m.data.Test)
		e.Test = &t
	}
	return e
}

// Fit turns values of the variables into the predictor of entries, in the user's units. Its coefficients are those of
// the row features, called row: and the name, and of the column features, col: and the name.
func (m *Model) Fit(x [][]float64) problems.Fit {
	p, coefficients := m.predict(x)
	balance(p)
	fit := problems.Fit{Intercept: p.Intercept, Matrix: p, Coefficients: coefficients}
	for _, s := range m.u.sides {
		for j := range s.count() {
			fit.Features = append(fit.Features, s.name+":"+s.Names[j])
		}
	}
	return fit
}

// PaperSettings are those of the paper's experiments; rho is that of its authors' program.
func (m *Model) PaperSettings() dca.Settings {
	return dca.Settings{Tol: 0.05, Rho: 1e-3, Alpha0: 1, Delta: 5, CAlpha: 1, MaxIter: 100, HoldZeros: true}
}

// DefaultSettings start from the best of a few penalised completions, and take only the first, large steps, with a
// penalty at which the iterates stay near the lower-level solutions: with a weight for each group the validation
// entries are soon overfitted, and smaller steps improve the validation error of the refit but not its test error.
func (m *Model) DefaultSettings() dca.Settings {
	s := m.PaperSettings()
	s.HoldZeros = false
	s.PathStart = len(m.path()) > 0
	s.Alpha0, s.Tol = 10, 0.1
	return s
}
