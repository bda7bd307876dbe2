package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/lower/survival"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/adaptive"
)

// modelFlags are the options of models, and the flags of single ones.
type modelFlags struct {
	model.Options
	ties  string
	terms termFlags
}

func (m *modelFlags) register(fs *pflag.FlagSet) {
	fs.Float64Var(&m.Level, "level", 0.5, "share `Q` of the targets below the predictions, for quantile")
	fs.Float64Var(&m.Threshold, "threshold", 0, "residual `D`, in the unit of the target, from which on the loss of huber grows linearly (default: by the spread of the targets)")
	fs.IntVar(&m.Order, "order", 1, "order `K` of the differences of fused-lasso: 1 for coefficients constant in pieces, 2 for linear ones")
	fs.StringVar(&m.ties, "ties", "breslow", "`RULE` of cox for events at one time: breslow or efron")
	m.terms.register(fs)
	fs.Float64Var(&m.Gamma, "gamma", 1, "exponent `G` of the weights of adaptive-lasso")
	fs.StringVar((*string)(&m.Pilot), "pilot", string(adaptive.Ridge), "`MODEL` that the weights of adaptive-lasso come from: "+joined(adaptive.Pilots()))
}

// mostGamma bounds the exponent: beyond it one feature is left.
const mostGamma = 100

// modelFlagNames are the flags of single models, with the option that each gives.
var modelFlagNames = [][2]string{
	{"level", "Level"}, {"threshold", "Threshold"}, {"order", "Order"}, {"ties", "Ties"}, {"penalty-factors", "Terms"},
	{"nonnegative", "Terms"}, {"lower", "Terms"}, {"upper", "Terms"}, {"gamma", "Gamma"}, {"pilot", "Pilot"},
}

// check rejects flags of other models, and numbers without meaning.
func (m *modelFlags) check(spec model.Spec, fs *pflag.FlagSet) (err error) {
	for _, f := range modelFlagNames {
		if fs.Changed(f[0]) && !spec.Takes(f[1]) {
			return badInputf("--%s is not for %s; it is for %s", f[0], spec.Name, joined(model.Taking(f[1])))
		}
	}
	m.Terms = m.terms.terms
	m.Ties, err = survival.ParseTies(m.ties)
	switch {
	case !(m.Level > 0 && m.Level < 1):
		return badInputf("--level is %v, expected a number between 0 and 1", m.Level)
	case fs.Changed("threshold") && !(m.Threshold > 0 && m.Threshold <= mostValue):
		return badInputf("--threshold is %v, expected a positive number, at most %g", m.Threshold, mostValue)
	case err != nil:
		return badInputf("--ties is %q, expected one of: %s", m.ties, joined(survival.TieRules()))
	case m.Order < 1:
		return badInputf("--order is %d, expected at least 1", m.Order)
	case !slices.Contains(adaptive.Pilots(), string(m.Pilot)):
		return badInputf("--pilot: unknown model %q; known are: %s", m.Pilot, joined(adaptive.Pilots()))
	}
	if err := checkNumbers(fs, []numberFlag{{"gamma", m.Gamma, false, mostGamma}}); err != nil {
		return err
	}
	return m.terms.check(fs)
}
