package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conetune/conetune/dca"
)

// The largest values of numeric flags. Beyond them a number has no meaning that anybody could have had in mind, and the
// arithmetic with it ends in infinities.
const (
	// mostEps is the loosest accuracy that a solution may be called optimal with.
	mostEps = 1e-2
	// mostTol is the loosest relative tolerance of a method.
	mostTol = dca.MostTol
	// mostWeight bounds weights, radii and factors, whose data are scaled to about 1.
	mostWeight = dca.MostWeight
	// mostValue bounds numbers in the unit of the user's columns: the squares of larger ones overflow.
	mostValue = 1e100
	// leastRange and mostRange bound the axes of a search.
	leastRange, mostRange = 1e-30, 1e30
	mostIterations        = 1_000_000_000
	mostEvaluations       = 1_000_000
	mostThreads           = 1024
	mostRepeats           = 100_000
)

// numberFlag is the value of a numeric flag with what it may be.
type numberFlag struct {
	flag  string
	value float64
	zero  bool    // 0 is allowed, too
	most  float64 // 0 means any finite number
}

// checkNumbers rejects numbers without meaning. A flag that was not given keeps its default.
func checkNumbers(fs *pflag.FlagSet, list []numberFlag) error {
	for _, n := range list {
		inside := n.value > 0 && !math.IsInf(n.value, 1) || n.zero && n.value == 0
		if !fs.Changed(n.flag) || inside && (n.most == 0 || n.value <= n.most) {
			continue
		}
		expected := "a positive number"
		if n.zero {
			expected = "a number that is not negative"
		}
		if n.most > 0 {
			expected += fmt.Sprintf(", at most %.10g", n.most)
		}
		return badInputf("--%s is %s, expected %s", n.flag, fs.Lookup(n.flag).Value, expected)
	}
	return nil
}

// numbersOf reads the numbers of a flag, with commas between them, each of which is one of something; nil for an empty text.
func numbersOf(flag, what, text, expected string, allowed func(v float64) bool) (list []float64, err error) {
	if text == "" {
		return nil, nil
	}
	for i, field := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !allowed(v) {
			return nil, badInputf("--%s: %s %d is %q, expected %s", flag, what, i+1, field, expected)
		}
		list = append(list, v)
	}
	return list, nil
}

// checkEmpty rejects flags that were given without a value, of whatever command: an empty variable of a script is not the default.
func checkEmpty(cmd *cobra.Command, _ []string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = badInputf("--%s is empty", f.Name)
		}
	})
	return err
}

// checkThreads says, where more than one thread was asked for, that no solver of this program uses it.
func (a *app) checkThreads(backend string, threads int) {
	if threads > 1 {
		a.note("conetune: --threads %d: a solve on the %s backend runs on one thread", threads, backend)
	}
}
