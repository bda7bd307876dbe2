package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Form is how names of shapes are written, numbers with dashes between.
type Form int

const (
	// InSets are rows for training, validation and test, and features: those of the paper for the elastic net.
	// "100-20-0-p50" has no test rows.
	InSets Form = iota
	// InGroups have groups of features, too: those of the paper for the sparse group lasso. Features are independent; the
	// coefficients are three blocks of p/3 features that begin with 1, 2, 3, 4, 5 and are 0 from there on (Supplement D of
	// the paper), whatever the groups.
	InGroups
	// InFolds are rows for folds and for the test, features and folds, for [GenerateFolds].
	InFolds
)

// forms have the words in the place of the numbers, some behind a letter, and names of shapes.
var forms = [...]struct {
	text  string
	names []string
}{
	{"TRAIN-VAL-TEST-pFEATURES", []string{"100-20-250-p250", "100-100-250-p250", "100-100-100-p2500"}},
	{"TRAIN-VAL-TEST-pFEATURES-mGROUPS",
		[]string{"100-100-100-p600-m30", "100-100-100-p600-m300", "100-100-100-p1200-m300"}},
	{"ROWS-TEST-pFEATURES-tFOLDS", []string{"300-300-p30-t3", "300-300-p30-t6", "30000-1000-p123-t3"}},
}

// Presets returns names of shapes of the form.
func (f Form) Presets() []string { return slices.Clone(forms[f].names) }

// Preset returns the shape behind a name of [Form.Presets], or behind any name of that form.
func (f Form) Preset(name string) (c Config, err error) {
	text := forms[f].text
	if !ParseShape(text, name, map[string]*int{"TRAIN": &c.Train, "ROWS": &c.Train, "VAL": &c.Val, "TEST": &c.Test,
		"FEATURES": &c.Features, "GROUPS": &c.Groups, "FOLDS": &c.Folds}) {
		return Config{}, fmt.Errorf("unknown preset %q, expected %s such as %s", name, text,
			strings.Join(forms[f].names, ", "))
	}
	if f == InFolds {
		c.Val = 1 // not used
		if c.Folds < 2 || c.Folds > c.Train {
			return Config{}, fmt.Errorf("%d folds of %d rows, expected 2 to %d", c.Folds, c.Train, c.Train)
		}
	}
	if err := c.validate(); err != nil || f != InGroups {
		return c, err
	}
	const blocks, nonzeros = 3, 5
	if c.Features < blocks*nonzeros {
		return Config{}, fmt.Errorf("dataset: cannot generate %d features in groups, expected at least %d", c.Features,
			blocks*nonzeros)
	}
	c.Independent, c.Coefficients = true, make([]float64, c.Features)
	for b := range blocks {
		for k := range nonzeros {
			c.Coefficients[b*(c.Features/blocks)+k] = float64(k + 1)
		}
	}
	return c, nil
}

// ParseShape reads a name of the form of a text, with numbers in the place of its words in capitals; false where it is
// none.
func ParseShape(text, name string, to map[string]*int) bool {
	words, parts := strings.Split(text, "-"), strings.Split(name, "-")
	if len(parts) != len(words) {
		return false
	}
	for k, word := range words {
		capitals := strings.TrimLeft(word, "pmt")
		digits, found := strings.CutPrefix(parts[k], strings.TrimSuffix(word, capitals))
		v, err := strconv.ParseUint(digits, 10, 31)
		if !found || err != nil {
			return false
		}
		*to[capitals] = int(v)
	}
	return true
}
