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
	standard   float64 // of features without
	low, high  float64
	expected   string // in the place of other numbers
	list       []featureValue
}

type featureValue struct {
	name  string
	value float64
}

// check reads the values, and rejects what has no meaning whatever the features are.
func (f *termFlags) check(fs *pflag.FlagSet) error {
	lower := f.lower
	if f.nonnegative && fs.Changed("lower") {
		return cli.BadInputf("--nonnegative is --lower 0; leave one of them out")
	} else if f.nonnegative {
		lower = "0"
	}
	none := math.Inf(1)
	f.values = []featureValues{
		{"penalty-factors", f.factors, 1, 0, cli.MostWeight, fmt.Sprintf("a number from 0 to %.10g", float64(cli.MostWeight)),
			nil},
		{"lower", lower, -none, -none, 0, "a number that is not positive, within 1e+100 or infinite", nil},
		{"upper", f.upper, none, 0, none, "a number that is not negative, within 1e+100 or infinite", nil},
	}
	for k := range f.values {
		v := &f.values[k]
		if k == 0 && v.text != "" && isFile(v.text) {
			var err error
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
	if v.text == "" {
		return nil
	}
	fields := cli.Names(v.text)
	if named && !strings.Contains(v.text, "=") {
		return fmt.Errorf(" is %q, which is no file; expected one, or NAME=FACTOR,.. such as age=0", v.text)
	}
	for _, field := range fields {
		of, text := "", field
		if i := strings.LastIndex(field, "="); i >= 0 {
			of, text = strings.TrimSpace(field[:i]), field[i+1:]
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || of == "" && len(fields) > 1 {
			return fmt.Errorf(": %q found, expected NAME=NUMBER, such as age=0", field)
		}
		if within := math.Abs(x) <= cli.MostValue || math.IsInf(x, 0); !(within && x >= v.low && x <= v.high) {
			what := ""
			if named {
				what = ": factor of " + of
			}
			return fmt.Errorf("%s is %v, expected %s", what, x, v.expected)
		}
		v.list = append(v.list, featureValue{of, x})
	}
	return nil
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// terms are those of the features of a table, made of these columns or interactions. A name is that of a feature, or of
// what several are made of.
func (f *termFlags) terms(features, columns []string) (t regression.Terms, err error) {
	for k, to := range []*[]float64{&t.Factors, &t.Lower, &t.Upper} {
		if k >= len(f.values) || f.values[k].list == nil {
			continue
		}
		v := f.values[k]
		*to = slices.Repeat([]float64{v.standard}, len(features))
		for _, x := range v.list {
			found := x.name == ""
			for j, name := range features {
				if x.name == "" || name == x.name || columns[j] == x.name {
					(*to)[j], found = x.value, true
				}
			}
			if !found {
				return t, cli.BadInputf("--%s: %q is not a feature of the table%s", v.flag, x.name,
					cli.DidYouMean(x.name, features))
			}
		}
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
