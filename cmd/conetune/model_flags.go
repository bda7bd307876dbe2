package main

import (
	"math"
	"slices"

	"github.com/spf13/pflag"
)

// modelFlags are the flags of single models.
type modelFlags struct {
	level, threshold, lower, upper float64
	order                          int
}

func (m *modelFlags) register(fs *pflag.FlagSet) {
	fs.Float64Var(&m.level, "level", 0.5, "share `Q` of the targets below the predictions, for quantile")
	fs.Float64Var(&m.threshold, "threshold", 0, "residual `D`, in the unit of the target, from which on the loss of huber grows linearly (default: by the spread of the targets)")
	fs.IntVar(&m.order, "order", 1, "order `K` of the differences of fused-lasso: 1 for coefficients constant in pieces, 2 for linear ones")
	fs.Float64Var(&m.lower, "lower", 0, "least coefficient `C` of bounded-elastic-net, not above 0 (default 0, without --upper; -inf for none)")
	fs.Float64Var(&m.upper, "upper", math.Inf(1), "largest coefficient `C` of bounded-elastic-net, not below 0 (default: none)")
}

// check rejects flags of other models, and numbers without meaning.
func (m *modelFlags) check(spec modelSpec, fs *pflag.FlagSet) error {
	for _, name := range []string{"level", "threshold", "order", "lower", "upper"} {
		if fs.Changed(name) && !slices.Contains(spec.flags, name) {
			return badInputf("--%s is not for %s", name, spec.name)
		}
	}
	switch {
	case !(m.level > 0 && m.level < 1):
		return badInputf("--level is %v, expected a number between 0 and 1", m.level)
	case fs.Changed("threshold") && !(m.threshold > 0 && m.threshold <= mostValue):
		return badInputf("--threshold is %v, expected a positive number, at most %g", m.threshold, mostValue)
	case m.order < 1:
		return badInputf("--order is %d, expected at least 1", m.order)
	case !(m.lower <= 0):
		return badInputf("--lower is %v, expected a number that is not positive", m.lower)
	case !(m.upper >= 0):
		return badInputf("--upper is %v, expected a number that is not negative", m.upper)
	case m.lower < -mostValue && !math.IsInf(m.lower, -1), m.upper > mostValue && !math.IsInf(m.upper, 1):
		return badInputf("--lower is %v and --upper %v, expected numbers within %g, or infinite ones for none", m.lower, m.upper, mostValue)
	}
	if fs.Changed("upper") && !fs.Changed("lower") {
		m.lower = math.Inf(-1)
	}
	return nil
}
