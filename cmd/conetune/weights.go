package main

import (
	"strings"

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

// withWeights is the call of another program with weights w of rows.
func withWeights(code string) string {
	if call, ok := strings.CutSuffix(code, ", standardize = FALSE)"); ok {
		return call + ", weights = w, standardize = FALSE)"
	}
	return code + ".fit(X, y, sample_weight=w)"
}

// withOffset are the calls of other programs with the offset o of rows; those of scikit-learn, which has none, of targets less the offset where that is the same.
func withOffset(model string, list []sameModel) (out []sameModel) {
	for _, m := range list {
		if call, ok := strings.CutSuffix(m.Code, ", standardize = FALSE)"); ok {
			m.Code = call + ", offset = o, standardize = FALSE)"
		} else if model == "logistic" || model == "poisson" {
			continue
		} else if strings.Contains(m.Code, ".fit(X, y") {
			m.Code = strings.Replace(m.Code, ".fit(X, y", ".fit(X, y - o", 1)
		} else {
			m.Code += ".fit(X, y - o)"
		}
		out = append(out, m)
	}
	return out
}
