package multipliers

import "math"

// reach bounds how far multipliers of penalties fall between two looks at all variables: the dual function is that over
// the variables that a solver works with, and where these are too few a multiplier may seem to be none, at which all
// variables would be wanted. It grows with each look that finds none missing.
type reach float64

// firstReach is the factor by which they fall after variables were missing, and the power with which it grows.
const firstReach, reachPower, mostReach = 10, 3, 1e20

// floors are the least multipliers from m on, given the least ones of all.
func (r reach) floors(m, least []float64) (floor []float64) {
	floor = make([]float64, len(m))
	for i, v := range m {
		if floor[i] = least[i]; r < mostReach {
			floor[i] = math.Max(floor[i], v/float64(r))
		}
	}
	return floor
}

// holds says whether a multiplier would go on below its floor, where that is not the least.
func (r reach) holds(m, floor, least []float64) bool {
	for i, v := range m {
		if floor[i] > least[i] && v <= floor[i]*(1+1e-9) {
			return true
		}
	}
	return false
}

// next is the reach after a look.
func (r reach) next(grew bool) reach {
	if grew {
		return firstReach
	}
	return reach(math.Min(mostReach, math.Pow(float64(r), reachPower)))
}
