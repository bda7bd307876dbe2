package cli

import (
	"encoding/csv"
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
	"github.com/conetune/conetune/internal/words"
)

// The largest values of numeric flags. Beyond them a number has no meaning that anybody could have had in mind, and the
// arithmetic with it ends in infinities.
const (
	// mostEps is the loosest accuracy that a solution may be called optimal with.
	MostEps = 1e-2
	// mostTol is the loosest relative tolerance of a method.
	MostTol = dca.MostTol
	// mostWeight bounds weights, radii and factors, whose data are scaled to about 1.
	MostWeight = dca.MostWeight
	// mostValue bounds numbers in the unit of the user's columns: the squares of larger ones overflow.
	MostValue = 1e100
	// leastRange and mostRange bound the axes of a search.
	LeastRange, MostRange = 1e-30, 1e30
	MostIterations        = 1_000_000_000
	MostEvaluations       = 1_000_000
	MostThreads           = 1024
	MostRepeats           = 100_000
	AnyNumber             = math.MaxFloat64
)

// Flag is a flag: its name, where its value goes, and its help.
type Flag struct {
	Name  string
	value any // a pointer to a text, names, number, time or truth, whose value is the default, or a [pflag.Value]
	help  string
	Traits
}

// Traits are what else there may be to know of a flag.
type Traits struct {
	Short   string   // its letter
	Option  string   // the identifier by which libraries speak of it
	Of      string   // the option of single models that it gives, see [model.Spec.Takes]
	Known   []string // the values of a text; nil: it is not checked
	Most    float64  // the largest value of a number, which is positive; 0: it is not checked
	Zero    bool     // or 0
	List    bool     // of values that are written as a list where they are several
	Unsaved bool     // says nothing about the choice: what is written and printed
}

// NewFlag is a row.
func NewFlag(name string, value any, help string, traits ...Traits) Flag {
	r := Flag{Name: name, value: value, help: help}
	if traits != nil {
		r.Traits = traits[0]
	}
	return r
}

// AddFlags adds the flags of a command, and has their values checked before it runs.
func AddFlags(cmd *cobra.Command, rows ...Flag) {
	Register(cmd.Flags(), rows)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return CheckValues(cmd.Flags(), rows) }
}

// Register adds flags, which help has in their order.
func Register(fs *pflag.FlagSet, rows []Flag) {
	fs.SortFlags = false
	for _, r := range rows {
		switch v := r.value.(type) {
		case *string:
			fs.StringVar(v, r.Name, *v, r.help)
		case *float64:
			fs.Float64Var(v, r.Name, *v, r.help)
		case *int:
			fs.IntVar(v, r.Name, *v, r.help)
		case *uint64:
			fs.Uint64Var(v, r.Name, *v, r.help)
		case *bool:
			fs.BoolVarP(v, r.Name, r.Short, *v, r.help)
		case *time.Duration:
			fs.DurationVar(v, r.Name, *v, r.help)
		case *[]string:
			fs.Var(nameList{v}, r.Name, r.help)
		case pflag.Value:
			fs.Var(v, r.Name, r.help)
		}
	}
}

// CheckValues rejects texts that are not known, and numbers without meaning. A flag that was not given keeps its
// default.
func CheckValues(fs *pflag.FlagSet, rows []Flag) error {
	for _, r := range rows {
		if text, is := r.value.(*string); is && r.Known != nil && fs.Changed(r.Name) && !slices.Contains(r.Known, *text) {
			return BadInputf("--%s is %q, expected one of: %s", r.Name, *text, words.Joined(r.Known))
		}
		if r.Most == 0 || !fs.Changed(r.Name) {
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
		if (v > 0 || r.Zero && v == 0) && v <= r.Most {
			continue
		}
		expected := "a positive number"
		if r.Zero {
			expected = "a number that is not negative"
		}
		if r.Most < AnyNumber {
			expected += fmt.Sprintf(", at most %.10g", r.Most)
		}
		return BadInputf("--%s is %s, expected %s", r.Name, fs.Lookup(r.Name).Value, expected)
	}
	return nil
}

// misuse is a flag that may not be given where something is wrong with it.
type misuse struct {
	flag  string // empty for what is wrong whatever is given
	wrong bool
	words string // after its name
}

// When is a misuse.
func When(flag string, wrong bool, words string) misuse { return misuse{flag, wrong, words} }

// CheckUse rejects the first flag that was given although something is wrong with it.
func CheckUse(fs *pflag.FlagSet, list ...misuse) error {
	for _, m := range list {
		switch {
		case m.wrong && m.flag == "":
			return BadInput(errors.New(m.words))
		case m.wrong && fs.Changed(m.flag):
			return BadInputf("--%s%s", m.flag, m.words)
		}
	}
	return nil
}

// Given are those of some flags that were given, with their dashes.
func Given(fs *pflag.FlagSet, names ...string) (list []string) {
	for _, name := range names {
		if fs.Changed(name) {
			list = append(list, "--"+name)
		}
	}
	return list
}

// NumbersOf reads the numbers of a flag, with commas between them, each of which is one of something; nil for an empty
// text.
func NumbersOf(flag, what, text, expected string, allowed func(v float64) bool) (list []float64, err error) {
	if text == "" {
		return nil, nil
	}
	for i, field := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !allowed(v) {
			return nil, BadInputf("--%s: %s %d is %q, expected %s", flag, what, i+1, field, expected)
		}
		list = append(list, v)
	}
	return list, nil
}

// NamesOf reads a list of names that are known and differ; nil if it is empty.
func NamesOf(flag, text string, find func(string) error) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list := Names(text)
	for i, name := range list {
		if err := find(name); err != nil {
			return nil, BadInputf("--%s: %w", flag, err)
		}
		if slices.Contains(list[:i], name) {
			return nil, BadInputf("--%s: %s is named twice", flag, name)
		}
	}
	return list, nil
}

// One asks for one argument of a command.
func One(what, more string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return BadInputf("expected one %s, got %d arguments%s", what, len(args), more)
		}
		return nil
	}
}

// CheckEmpty rejects flags that were given without a value, of whatever command: an empty variable of a script is not
// the default.
func CheckEmpty(cmd *cobra.Command, _ []string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = BadInputf("--%s is empty", f.Name)
		}
	})
	return err
}

// FlagError says what a flag expects, in place of the message of the parser that read it.
func FlagError(fs *pflag.FlagSet, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return fmt.Errorf("%w%s", err, suggest(unknown.GetSpecifiedName(), "--", FlagNames(fs)))
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	expected := map[string]string{
		"float64": "a number", "int": "an integer", "uint64": "an integer that is not negative",
		"duration": "a time with its unit such as 90s or 5m", "bool": "true or false", "size": "a size such as 4GB or 500MB",
		"folds": "an integer, or all",
	}[invalid.GetFlag().Value.Type()]
	if expected == "" {
		return err
	}
	return fmt.Errorf("--%s: %q found, expected %s", invalid.GetFlag().Name, invalid.GetValue(), expected)
}

// FlagNames are the names of flags, without dashes.
func FlagNames(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// Names are those of a list: a record of CSV, so that a name with a comma stands in double quotes.
func Names(text string) []string {
	r := csv.NewReader(strings.NewReader(text))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	lines, _ := r.ReadAll() // with lazy quotes all texts are CSV
	return slices.Concat(lines...)
}

// JoinNames is the list that [Names] reads.
func JoinNames(names []string) string {
	return strings.Join(words.Each(names, func(name string) string {
		if strings.ContainsAny(name, ",\r\n") || strings.HasPrefix(name, `"`) {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		return name
	}), ",")
}

// nameList is the value of a flag of names.
type nameList struct{ names *[]string }

// Set, String and Type implement [pflag.Value].
func (l nameList) Set(text string) error {
	*l.names = append([]string{}, Names(text)...)
	return nil
}

func (l nameList) String() string { return JoinNames(*l.names) }

func (l nameList) Type() string { return "string" }

// DidYouMean suggests the known name that is next to one that is not known, or nothing where none is near.
func DidYouMean(name string, known []string) string { return suggest(name, "", known) }

// suggest is didYouMean for names that stand after a prefix.
func suggest(name, prefix string, known []string) string {
	if name == "alpha" && slices.Contains(known, "l1-ratio") { // which is two things elsewhere
		return fmt.Sprintf(" (did you mean %sl1-ratio, alpha of glmnet, or %[1]slambda, alpha of scikit-learn?)", prefix)
	}
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

// distance is how many letters must be put in, taken out or replaced to make one text the other (V. I. Levenshtein,
// 1966).
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
