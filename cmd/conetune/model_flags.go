package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/lower/survival"
)

// modelFlags are the flags of single models.
type modelFlags struct {
	level, threshold float64
	order            int
	ties             string
	terms            termFlags
	adaptive         adaptiveFlags
}

func (m *modelFlags) register(fs *pflag.FlagSet) {
	fs.Float64Var(&m.level, "level", 0.5, "share `Q` of the targets below the predictions, for quantile")
	fs.Float64Var(&m.threshold, "threshold", 0, "residual `D`, in the unit of the target, from which on the loss of huber grows linearly (default: by the spread of the targets)")
	fs.IntVar(&m.order, "order", 1, "order `K` of the differences of fused-lasso: 1 for coefficients constant in pieces, 2 for linear ones")
	fs.StringVar(&m.ties, "ties", "breslow", "`RULE` of cox for events at one time: breslow or efron")
	m.terms.register(fs)
	m.adaptive.register(fs)
}

// takers are the names of the models that take a flag of single models.
func takers(flag string) (names []string) {
	for _, m := range models {
		if slices.Contains(m.flags, flag) {
			names = append(names, m.name)
		}
	}
	return names
}

// check rejects flags of other models, and numbers without meaning.
func (m *modelFlags) check(spec modelSpec, fs *pflag.FlagSet) error {
	for _, name := range slices.Concat([]string{"level", "threshold", "order", "ties"}, termNames, adaptiveNames) {
		if fs.Changed(name) && !slices.Contains(spec.flags, name) {
			return badInputf("--%s is not for %s; it is for %s", name, spec.name, joined(takers(name)))
		}
	}
	switch {
	case !(m.level > 0 && m.level < 1):
		return badInputf("--level is %v, expected a number between 0 and 1", m.level)
	case fs.Changed("threshold") && !(m.threshold > 0 && m.threshold <= mostValue):
		return badInputf("--threshold is %v, expected a positive number, at most %g", m.threshold, mostValue)
	case !slices.Contains(survival.TieRules(), m.ties):
		return badInputf("--ties is %q, expected one of: %s", m.ties, joined(survival.TieRules()))
	case m.order < 1:
		return badInputf("--order is %d, expected at least 1", m.order)
	}
	if err := m.adaptive.check(fs); err != nil {
		return err
	}
	return m.terms.check(fs)
}
