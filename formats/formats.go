// Package formats has what the readers of programs in its folders have in common:
//
//	qps       linear and quadratic programs in QPS and MPS files
//	lp        linear and quadratic programs in the LP format of CPLEX, as models of qps
//	sdpa      semidefinite programs in the sparse format of SDPA
//	cbf       conic programs in the Conic Benchmark Format
//
// Each has a Model, as it stands in a file, whose method Conic makes a [Program] of it.
//
// Errors about a file, also about a table of package table, are an [*Error], with file, line and field.
package formats

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/textfile"
)

// Error says what is wrong in a file, and where.
type Error = textfile.Error

// Program is a model in the form of package backends, and the way back.
type Program struct {
	// Problem minimises the objective, or its negative where the model maximises.
	Problem *backends.Problem
	// Solution translates what a solver found. Where it proves infeasibility, X and Matrices are a direction, or Y, Z
	// and MatrixY are multipliers, that prove it.
	Solution func(*backends.Solution) Solution
}

// Solution is a point in the terms of the model. What a solver has not, and the format neither, is nil.
type Solution struct {
	// X are the scalar variables, Y the multipliers of the scalar constraints, and Z those of the bounds of variables,
	// with the signs of the package of the format.
	X, Y, Z []float64
	// Matrices are the matrix variables, and MatrixY the multipliers of the matrix constraints, each its lower triangle
	// by columns without any scaling.
	Matrices, MatrixY [][]float64
	// Objective and DualObjective are those of the file, with constant and sense. They are infinite where the model is
	// infeasible or unbounded, NaN without a point.
	Objective, DualObjective float64
}
