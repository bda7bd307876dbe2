package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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
	anyNumber             = math.MaxFloat64
)

// flagRow is a flag: its name, where its value goes, and its help.
type flagRow struct {
	name  string
	value any // a pointer to a text, number, time or truth, whose value is the default, or a [pflag.Value]
	help  string
	flagTraits
}

// flagTraits are what else there may be to know of a flag.
type flagTraits struct {
	short   string  // its letter
	option  string  // the identifier by which libraries speak of it
	of      string  // the option of single models that it gives, see [model.Spec.Takes]
	most    float64 // the largest value of a number, which is positive; 0: it is not checked
	zero    bool    // or 0
	list    bool    // of values that are written as a list where they are several
	unsaved bool    // says nothing about the choice: what is written and printed
}

// newFlag is a row.
func newFlag(name string, value any, help string, traits ...flagTraits) flagRow {
	r := flagRow{name: name, value: value, help: help}
	if traits != nil {
		r.flagTraits = traits[0]
	}
	return r
}

// register adds flags.
func register(fs *pflag.FlagSet, rows []flagRow) {
	for _, r := range rows {
		switch v := r.value.(type) {
		case *string:
			fs.StringVar(v, r.name, *v, r.help)
		case *float64:
			fs.Float64Var(v, r.name, *v, r.help)
		case *int:
			fs.IntVar(v, r.name, *v, r.help)
		case *uint64:
			fs.Uint64Var(v, r.name, *v, r.help)
		case *bool:
			fs.BoolVarP(v, r.name, r.short, *v, r.help)
		case *time.Duration:
			fs.DurationVar(v, r.name, *v, r.help)
		case pflag.Value:
			fs.Var(v, r.name, r.help)
		}
	}
}

// checkNumbers rejects numbers without meaning. A flag that was not given keeps its default.
func checkNumbers(fs *pflag.FlagSet, rows []flagRow) error {
	for _, r := range rows {
		if r.most == 0 || !fs.Changed(r.name) {
			continue
		}
		var v float64
		switch p := r.value.(type) {
		case *float64:
			v = *p
		case *int:
			v = float64(*p)
		case *time.Duration:
			v = float64(*p)
		}
		if (v > 0 || r.zero && v == 0) && v <= r.most {
			continue
		}
		expected := "a positive number"
		if r.zero {
			expected = "a number that is not negative"
		}
		if r.most < anyNumber {
			expected += fmt.Sprintf(", at most %.10g", r.most)
		}
		return badInputf("--%s is %s, expected %s", r.name, fs.Lookup(r.name).Value, expected)
	}
	return nil
}

// misuse is a flag that may not be given where something is wrong with it.
type misuse struct {
	flag  string
	wrong bool
	words string // after its name
}

// when is a misuse.
func when(flag string, wrong bool, words string) misuse { return misuse{flag, wrong, words} }

// checkUse rejects the first flag that was given although something is wrong with it.
func checkUse(fs *pflag.FlagSet, list ...misuse) error {
	for _, m := range list {
		if m.wrong && fs.Changed(m.flag) {
			return badInputf("--%s%s", m.flag, m.words)
		}
	}
	return nil
}

// given are those of some flags that were given, with their dashes.
func given(fs *pflag.FlagSet, names ...string) (list []string) {
	for _, name := range names {
		if fs.Changed(name) {
			list = append(list, "--"+name)
		}
	}
	return list
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

// namesOf reads a list of names that are known and differ; nil if it is empty.
func namesOf(flag, text string, find func(string) error) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list := strings.Split(text, ",")
	for i, name := range list {
		if err := find(name); err != nil {
			return nil, badInputf("--%s: %w", flag, err)
		}
		if slices.Contains(list[:i], name) {
			return nil, badInputf("--%s: %s is named twice", flag, name)
		}
	}
	return list, nil
}

// checkEmpty rejects flags that were given without a value, of whatever command: an empty variable of a script is not the
// default.
func checkEmpty(cmd *cobra.Command, _ []string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = badInputf("--%s is empty", f.Name)
		}
	})
	return err
}

// flagError says what a flag expects, in place of the message of the parser that read it.
func flagError(fs *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return fmt.Errorf("%w%s", err, suggest(unknown.GetSpecifiedName(), "--", flagNames(fs)))
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	expected := map[string]string{
		"float64": "a number", "int": "an integer", "uint64": "an integer that is not negative",
		"duration": "a time with its unit such as 90s or 5m", "bool": "true or false", "size": "a size such as 4GB or 500MB", "folds": "an integer, or all",
	}[invalid.GetFlag().Value.Type()]
	if expected == "" {
		return err
	}
	return fmt.Errorf("--%s: %q found, expected %s", invalid.GetFlag().Name, invalid.GetValue(), expected)
}

// flagNames are the names of flags, without dashes.
func flagNames(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// nameList is the value of a flag of names with commas between them.
type nameList struct{ names *[]string }

func newNameList(names *[]string) nameList { return nameList{names} }

// Set, String and Type implement [pflag.Value].
func (l nameList) Set(text string) error {
	*l.names = []string{}
	if text != "" {
		*l.names = strings.Split(text, ",")
	}
	return nil
}

func (l nameList) String() string {
	if l.names == nil {
		return ""
	}
	return strings.Join(*l.names, ",")
}

func (l nameList) Type() string { return "string" }

// didYouMean suggests the known name that is next to one that is not known, or nothing where none is near.
func didYouMean(name string, known []string) string { return suggest(name, "", known) }

// suggest is didYouMean for names that stand after a prefix.
func suggest(name, prefix string, known []string) string {
	best, least := "", 1+len(name)/3
	for _, other := range known {
		if d := distance(strings.ToLower(name), other); d <= least {
			if d < least || best == "" {
				best, least = other, d
			}
		}
	}
	for _, other := range known {
		if best == "" && len(name) > 2 && strings.HasPrefix(other, strings.ToLower(name)) {
			best = other
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + prefix + best + "?)"
}

// distance is how many letters must be put in, taken out or replaced to make one text the other (V. I. Levenshtein, 1966).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
