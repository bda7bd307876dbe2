package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/regression"
)

// termFlags are the flags about single features, of the models of [termed].
type termFlags struct {
	factors, lower, upper string
	nonnegative           bool
}

func (f *termFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.factors, "penalty-factors", "", "`NAME=F,..`: factors of the penalties of single features, 0 for none, or a FILE with the columns feature and factor (default 1)")
	fs.BoolVar(&f.nonnegative, "nonnegative", false, "no coefficient is negative (bounded-elastic-net does so without --lower and --upper)")
	fs.StringVar(&f.lower, "lower", "", "least coefficient `C`, not above 0, of all features, or NAME=C,.. of some (-inf for none)")
	fs.StringVar(&f.upper, "upper", "", "largest coefficient `C`, not below 0, of all features, or NAME=C,.. of some (default: none)")
}

// check rejects what has no meaning whatever the features are.
func (f *termFlags) check(fs *pflag.FlagSet) error {
	if f.nonnegative && fs.Changed("lower") {
		return badInputf("--nonnegative is --lower 0; leave one of them out")
	}
	for _, side := range []boundFlag{{"lower", f.lower, -1}, {"upper", f.upper, 1}} {
		if !fs.Changed(side.flag) {
			continue
		}
		if _, err := side.parse(); err != nil {
			return err
		}
	}
	if fs.Changed("penalty-factors") && !isFile(f.factors) {
		if _, err := f.listedFactors(); err != nil {
			return err
		}
	}
	return nil
}

// termValue is the value of a feature, or of all features where there is no name.
type termValue struct {
	name  string
	value float64
}

// boundFlag is --lower or --upper.
type boundFlag struct {
	flag, text string
	sign       float64 // of bounds that leave room for 0
}

func (b boundFlag) parse() ([]termValue, error) {
	list, err := parseTermValues(b.flag, b.text)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		switch {
		case !(b.sign*v.value >= 0):
			side := "positive"
			if b.sign > 0 {
				side = "negative"
			}
			return nil, badInputf("--%s is %v, expected a number that is not %s", b.flag, v.value, side)
		case math.Abs(v.value) > mostValue && !math.IsInf(v.value, 0):
			return nil, badInputf("--%s is %v, expected a number within %g, or an infinite one for none", b.flag, v.value, mostValue)
		}
	}
	return list, nil
}

// parseTermValues reads "3" or "a=3,b=4".
func parseTermValues(flag, text string) ([]termValue, error) {
	fields := strings.Split(text, ",")
	var out []termValue
	for _, field := range fields {
		v := termValue{}
		number := field
		if i := strings.LastIndex(field, "="); i >= 0 {
			v.name, number = strings.TrimSpace(field[:i]), field[i+1:]
		}
		var err error
		if v.value, err = strconv.ParseFloat(strings.TrimSpace(number), 64); err != nil || v.name == "" && len(fields) > 1 {
			return nil, badInputf("--%s: %q found, expected NAME=NUMBER, such as %s=0", flag, field, "age")
		}
		out = append(out, v)
	}
	return out, nil
}

func (f *termFlags) listedFactors() ([]termValue, error) {
	if !strings.Contains(f.factors, "=") {
		return nil, badInputf("--penalty-factors is %q, which is no file; expected one, or NAME=FACTOR,.. such as age=0", f.factors)
	}
	list, err := parseTermValues("penalty-factors", f.factors)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if !(v.value >= 0 && v.value <= mostWeight) {
			return nil, badInputf("--penalty-factors: factor of %s is %v, expected a number from 0 to %.10g", v.name, v.value, mostWeight)
		}
	}
	return list, nil
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

// terms are those of the features of a table.
func (f *termFlags) terms(features []string) (t regression.Terms, err error) {
	if f.factors != "" {
		list, err := f.readFactors()
		if err != nil {
			return t, err
		}
		if t.Factors, err = spreadTerms("penalty-factors", list, features, 1); err != nil {
			return t, err
		}
	}
	if f.nonnegative {
		t.Lower = []float64{0}
	}
	for _, side := range []struct {
		boundFlag
		to *[]float64
	}{{boundFlag{"lower", f.lower, -1}, &t.Lower}, {boundFlag{"upper", f.upper, 1}, &t.Upper}} {
		if side.text == "" {
			continue
		}
		list, err := side.parse()
		if err != nil {
			return t, err
		}
		if *side.to, err = spreadTerms(side.flag, list, features, math.Inf(int(side.sign))); err != nil {
			return t, err
		}
	}
	return t, nil
}

// spreadTerms gives each feature its value. A name is that of a feature, or of a column with several of them.
func spreadTerms(flag string, list []termValue, features []string, standard float64) ([]float64, error) {
	out := slices.Repeat([]float64{standard}, len(features))
	for _, v := range list {
		found := v.name == ""
		for j, name := range features {
			if v.name == "" || name == v.name || strings.HasPrefix(name, v.name+"=") {
				out[j], found = v.value, true
			}
		}
		if !found {
			return nil, badInputf("--%s: %q is not a feature of the table%s", flag, v.name, didYouMean(v.name, features))
		}
	}
	return out, nil
}

// readFactors reads them from a file, or from the flag.
func (f *termFlags) readFactors() ([]termValue, error) {
	if !isFile(f.factors) {
		return f.listedFactors()
	}
	return textfile.ReadFile(f.factors, readFactors)
}

// readFactors reads a table with the columns feature and factor.
func readFactors(s *textfile.Source) (list []termValue, err error) {
	columns, err := textfile.NewColumns(s, "feature and factor", "feature", "factor")
	if err != nil {
		return nil, err
	}
	feature, factor := columns.Index("feature"), columns.Index("factor")
	for {
		fields, err := columns.Next()
		if err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		value, reason := textfile.NumberUpTo(fields[factor], mostWeight)
		if reason == "" && value < 0 {
			reason = fmt.Sprintf("%g found, expected a number that is not negative", value)
		}
		if reason != "" {
			return nil, s.Errorf(s.LineNumber(), "factor", "%s", reason)
		}
		list = append(list, termValue{string(fields[feature]), value})
	}
}
