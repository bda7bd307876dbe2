// Package finite tells numbers from what is none.
package finite

import "math"

// All says that all values are numbers, and none is infinite.
func All(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Every says that of all entries of some vectors.
func Every(x [][]float64) bool {
	for _, v := range x {
		if !All(v...) {
			return false
		}
	}
	return true
}
