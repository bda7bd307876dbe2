// Package finite tells numbers from what is none.
package finite

import (
	"fmt"
	"math"
)

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

// Setting is a number with its name, which is to be 0, for a default, or lie between bounds that are not negative.
type Setting = struct {
	Name               string
	Value, Least, Most float64
}

// Check is an error for the first that does not.
func Check(list ...Setting) error {
	for _, s := range list {
		switch {
		case !(s.Value >= 0) || math.IsInf(s.Value, 1):
			return fmt.Errorf("%s is %v, expected a finite number that is not negative", s.Name, s.Value)
		case s.Value != 0 && s.Value < s.Least || s.Value > s.Most:
			return fmt.Errorf("%s is %v, expected %v to %v", s.Name, s.Value, s.Least, s.Most)
		}
	}
	return nil
}
