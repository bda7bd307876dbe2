package main

import (
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems/dataset"
)

// totalWeight is the number of rows, or the sum of their weights; 0 for none.
func totalWeight(d *dataset.Data) float64 {
	if d != nil && d.Weights != nil {
		return floats.Sum(d.Weights)
	}
	n, _ := d.Dims()
	return float64(n)
}
