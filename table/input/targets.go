package input

import (
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
)

// several gives rows the columns of several targets. The models of several are dense.
func several(d *dataset.Data, names []string, columns [][]float64) {
	d.X, d.Targets, d.TargetNames = d.Dense(), mat.NewDense(len(d.Y), len(names), nil), names
	for k, column := range columns {
		d.Targets.SetCol(k, column)
	}
}
