package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/problems/adaptive"
)

// adaptiveFlags are the flags of adaptive-lasso.
type adaptiveFlags struct {
	gamma float64
	pilot string
}

// adaptiveNames are the flags.
var adaptiveNames = []string{"gamma", "pilot"}

// mostGamma bounds the exponent: beyond it one feature is left.
const mostGamma = 100

func (f *adaptiveFlags) register(fs *pflag.FlagSet) {
	fs.Float64Var(&f.gamma, "gamma", 1, "exponent `G` of the weights of adaptive-lasso")
	fs.StringVar(&f.pilot, "pilot", string(adaptive.Ridge), "`MODEL` that the weights of adaptive-lasso come from: "+joined(adaptive.Pilots()))
}

func (f *adaptiveFlags) check(fs *pflag.FlagSet) error {
	if !slices.Contains(adaptive.Pilots(), f.pilot) {
		return badInputf("--pilot: unknown model %q; known are: %s", f.pilot, joined(adaptive.Pilots()))
	}
	return checkNumbers(fs, []numberFlag{{"gamma", f.gamma, false, mostGamma}})
}
