//go:build highs && cgo

package highs

import chighs "github.com/conetune/conetune/internal/cgo/highs"

// ways are what a retry changes, one after the other.
var ways = []func(set *chighs.Settings){
	func(set *chighs.Settings) { set.Presolve = false },
	func(set *chighs.Settings) {
		set.PrimalTolerance, set.DualTolerance = smallestTolerance, smallestTolerance
	},
	func(set *chighs.Settings) {
		set.Crossover, set.IPMTolerance = true, smallestIPM
		if set.Method == chighs.Simplex {
			set.Method = chighs.IPX
		} else {
			set.Method = chighs.Simplex
		}
	},
}

// quadraticWays are those for quadratic programs.
var quadraticWays = []func(set *chighs.Settings){
	func(set *chighs.Settings) {
		set.PrimalTolerance, set.DualTolerance, set.IPMTolerance = smallestTolerance, smallestTolerance, smallestIPM
	},
	func(set *chighs.Settings) { set.Augmented = true },
}

// prepare makes the solver ready for another run, and returns false if there is nothing left to try.
func (r *run) prepare() bool {
	list := ways
	if r.quadratic {
		list = quadraticWays
	}
	for r.tried < len(list) {
		set := r.set
		list[r.tried](&set)
		r.tried++
		if set == r.set {
			continue
		}
		r.set = set
		if r.highs == nil {
			return r.Renew() == nil
		}
		return r.highs.Forget() == nil
	}
	return false
}
