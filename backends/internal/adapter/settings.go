package adapter

import (
	"cmp"
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
)

// Check is what a setting has to be.
type Check struct {
	Field string
	OK    bool
	Value any
	Want  string
}

// Positive is the check of a number that may be zero for its default.
func Positive(field string, v float64) Check {
	return Check{field, v >= 0 && !math.IsInf(v, 1), v, "a finite number > 0"}
}

// Count is the same for a number of things.
func Count(field string, v int) Check {
	return Check{field, v >= 0 && v <= math.MaxInt32, v, "a number > 0"}
}

// settings returns those of the options, or what is wrong with them.
func settings[T any](o backends.Options, backend string, checks func(T) []Check) (T, error) {
	set, err := backends.SettingsOf[T](o, backend)
	if err != nil {
		return set, err
	}
	for _, c := range checks(set) {
		if !c.OK {
			reason := fmt.Sprintf("is %v, expected %s", c.Value, c.Want)
			return set, &backends.ProblemError{Field: "Settings." + c.Field, Reason: reason}
		}
	}
	return set, nil
}

// Retries returns the number that a setting asks for, whose zero is the default and which is negative for none.
func Retries(set, otherwise int) int { return max(0, cmp.Or(set, otherwise)) }
