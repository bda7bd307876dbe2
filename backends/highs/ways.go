//go:build highs && cgo

package highs

import (
	"github.com/conetune/conetune/backends"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// attempt is how HiGHS is asked.
type attempt struct {
	chighs.Settings
	// polish takes the rows that bind at the best point so far as equations, and leaves the others out.
	polish bool
}

// ways are what a retry changes, one after the other.
var ways = []func(set *attempt){
	func(set *attempt) { set.Presolve = false },
	func(set *attempt) {
		set.PrimalTolerance, set.DualTolerance = smallestTolerance, smallestTolerance
	},
	func(set *attempt) {
		set.Crossover, set.IPMTolerance = true, smallestIPM
		if set.Method == chighs.Simplex {
			set.Method = chighs.IPX
		} else {
			set.Method = chighs.Simplex
		}
	},
}

// quadraticWays are those for quadratic programs. Where a row binds whose multiplier is zero, interior points come near
// slowly, and the equations of the rows that bind have the point.
var quadraticWays = []func(set *attempt){
	func(set *attempt) { set.polish = true },
	func(set *attempt) {
		set.polish = false
		set.PrimalTolerance, set.DualTolerance, set.IPMTolerance = smallestTolerance, smallestTolerance, smallestIPM
	},
	func(set *attempt) { set.polish = true },
	func(set *attempt) { set.polish, set.Augmented = false, true },
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
		if set == r.set || set.polish && r.Best == nil {
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

// call runs HiGHS, on the rows that bind where it is to polish.
func (r *run) call(set *chighs.Settings, point *chighs.Solution) (chighs.Info, error) {
	if !r.set.polish {
		return r.highs.Solve(set, point, r.Stop, r.Left())
	}
	l, u, err := r.form.OnAx(r.Data.B, chighs.Infinity, "HiGHS")
	if err != nil {
		return chighs.Info{}, err
	}
	heldL, heldU := r.form.held(l, u, r.Scale.Scale(backends.Point{S: r.Best.S, Z: r.Best.Z}))
	if err := r.highs.Update(nil, nil, nil, heldL, heldU); err != nil {
		return chighs.Info{}, err
	}
	info, err := r.highs.Solve(set, point, r.Stop, r.Left())
	if err != nil {
		return info, err
	}
	return info, r.highs.Update(nil, nil, nil, l, u)
}
