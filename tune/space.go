package tune

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/problems"
)

// Axis is one direction of a search.
type Axis = problems.Axis

// Spaced is a [Model] that says itself where to search: the axes by kind, or with each
// an axis for every hyperparameter.
type Spaced interface {
	SearchSpace(preset string, each bool) []Axis
}

// Scope says how many values a search chooses.
type Scope string

// The scopes of a search.
const (
	// ScopeCommon is one value for all hyperparameters of a kind, see [dca.Program.Kinds].
	ScopeCommon Scope = "common"
	// ScopeEach is one value for each hyperparameter.
	ScopeEach Scope = "each"
)

// Range bounds an axis of a search.
type Range struct {
	// Axis is the name of an axis; empty means all that no other range names.
	Axis string
	// Low and High are values of the hyperparameter, not their logarithms.
	Low, High float64
}

func (r Range) validate() error {
	name := r.Axis
	if name == "" {
		name = "all axes"
	}
	switch {
	case !(r.Low > 0) || math.IsInf(r.High, 1) || math.IsNaN(r.High):
		return fmt.Errorf("tune: range of %s is %v to %v, expected positive finite numbers (the search is on a logarithmic scale)", name, r.Low, r.High)
	case r.Low > r.High:
		return fmt.Errorf("tune: range of %s is upside down: %v to %v, expected the smaller number first", name, r.Low, r.High)
	}
	return nil
}
