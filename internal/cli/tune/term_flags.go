package tune

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/regression"
)

// termFlags are the flags about single features, of the models that take Terms.
type termFlags struct {
	factors, lower, upper string
	nonnegative           bool
	values                []featureValues // of these, once they are read
}

// featureValues are the numbers that a flag gives to features, to all of them where one has no name.
type featureValues struct {
	flag, text string
	standard   float64                // of features without
	wrong      func(v float64) string // what is expected in the place of a number; empty if it is right
	to         func(*regression.Terms) *[]float64
	list       []featureValue
}

type featureValue struct {
	name  string
	value float64
}

// check reads the values, and rejects what has no meaning whatever the features are.
func (f *termFlags) check(fs *pflag.FlagSet) (err error) {
	lower := f.lower
	if f.nonnegative && fs.Changed("lower") {
		return cli.BadInputf("--nonnegative is --lower 0; leave one of them out")
	} else if f.nonnegative {
		lower = "0"
	}
	bound := func(sign float64, not string) func(float64) string {
		return func(v float64) string {
			switch {
			case !(sign*v >= 0):
				return "a number that is not " + not
			case math.Abs(v) > cli.MostValue && !math.IsInf(v, 0):
				return fmt.Sprintf("a number within %g, or an infinite one for none", cli.MostValue)
			}
			return ""
		}
	}
	f.values = []featureValues{
		{"penalty-factors", f.factors, 1, func(v float64) string {
			if v >= 0 && v <= cli.MostWeight {
				return ""
			}
			return fmt.Sprintf("a number from 0 to %.10g", cli.MostWeight)
		}, func(t *regression.Terms) *[]float64 { return &t.Factors }, nil},
		{"lower", lower, math.Inf(-1), bound(-1, "positive"), func(t *regression.Terms) *[]float64 { return &t.Lower }, nil},
		{"upper", f.upper, math.Inf(1), bound(1, "negative"), func(t *regression.Terms) *[]float64 { return &t.Upper }, nil},
	}
	for k := range f.values {
		v := &f.values[k]
		if v.text == "" {
			continue
		}
		if k == 0 && isFile(v.text) {
			if v.list, err = textfile.ReadFile(v.text, readFactors); err != nil {
				return cli.BadInput(err)
			}
		} else if err := v.parse(k == 0); err != nil {
			return cli.BadInputf("--%s%w", v.flag, err)
		}
	}
	return nil
}

// parse reads "3", where it need not be of a name, or "a=3,b=4".
func (v *featureValues) parse(named bool) error {
	fields := strings.Split(v.text, ",")
	if named && !strings.Contains(v.text, "=") {
		return fmt.Errorf(" is %q, which is no file; expected one, or NAME=FACTOR,.. such as age=0", v.text)
	}
	for _, field := range fields {
		var x featureValue
		text := field
		if i := strings.LastIndex(field, "="); i >= 0 {
			x.name, text = strings.TrimSpace(field[:i]), field[i+1:]
		}
		var err error
		if x.value, err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || x.name == "" && len(fields) > 1 {
			return fmt.Errorf(": %q found, expected NAME=NUMBER, such as age=0", field)
		}
		if expected := v.wrong(x.value); expected != "" && named {
			return fmt.Errorf(": factor of %s is %v, expected %s", x.name, x.value, expected)
		} else if expected != "" {
			return fmt.Errorf(" is %v, expected %s", x.value, expected)
		}
		v.list = append(v.list, x)
	}
	return nil
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// files are those that the flags name.
func (f *termFlags) files() []string {
	if f.factors != "" && isFile(f.factors) {
		return []string{f.factors}
	}
	return nil
}

// terms are those of the features of a table. A name is that of a feature, or of a column with several of them.
func (f *termFlags) terms(features []string) (t regression.Terms, err error) {
	for _, v := range f.values {
		if v.list == nil {
			continue
		}
		out := slices.Repeat([]float64{v.standard}, len(features))
		for _, x := range v.list {
			found := x.name == ""
			for j, name := range features {
				if x.name == "" || name == x.name || strings.HasPrefix(name, x.name+"=") {
					out[j], found = x.value, true
				}
			}
			if !found {
				return t, cli.BadInputf("--%s: %q is not a feature of the table%s", v.flag, x.name, cli.DidYouMean(x.name, features))
			}
		}
		*v.to(&t) = out
	}
	return t, nil
}

// readFactors reads a table with the columns feature and factor.
func readFactors(s *textfile.Source) (list []featureValue, err error) {
	columns, err := textfile.NewColumns(s, "feature and factor", "feature", "factor")
	if err != nil {
		return nil, err
	}
	feature, factor := columns.Index("feature"), columns.Index("factor")
	for {
		fields, err := columns.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		value, reason := textfile.NumberUpTo(fields[factor], cli.MostWeight)
		if reason == "" && value < 0 {
			reason = fmt.Sprintf("%g found, expected a number that is not negative", value)
		}
		if reason != "" {
			return nil, s.Errorf(s.LineNumber(), "factor", "%s", reason)
		}
		list = append(list, featureValue{string(fields[feature]), value})
	}
}
