package input

import "gonum.org/v1/gonum/mat"

// Targets are those of a model of several: a column for each name and a row for each of the rows.
type Targets struct {
	Names            []string
	Train, Val, Test *mat.Dense // nil where there are no rows
}

// newTargets puts lists of the values of training, validation and test rows together, one list for each target.
func newTargets(names []string, values [][][]float64) *Targets {
	return &Targets{Names: names, Train: matrixOf(values[0]), Val: matrixOf(values[1]), Test: matrixOf(values[2])}
}

func matrixOf(columns [][]float64) *mat.Dense {
	if columns == nil {
		return nil
	}
	y := mat.NewDense(len(columns[0]), len(columns), nil)
	for q, column := range columns {
		y.SetCol(q, column)
	}
	return y
}

// Column are the values of target k in some of the sets, one set after the other.
func (t *Targets) Column(k int, sets ...*mat.Dense) []float64 {
	var out []float64
	for _, y := range sets {
		if y != nil {
			out = append(out, mat.Col(nil, k, y)...)
		}
	}
	return out
}
