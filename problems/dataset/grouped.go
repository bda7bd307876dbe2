package dataset

import (
	"fmt"
	"strings"
)

// groupedPresets are the sizes of the paper's table for the sparse group lasso.
var groupedPresets = []string{"100-100-100-p600-m30", "100-100-100-p600-m300", "100-100-100-p1200-m300"}

// GroupedPresets returns the names of the data of the paper with M groups of features: rows for
// training, validation and test, then p and the number of features, m and the number of groups.
func GroupedPresets() []string { return append([]string(nil), groupedPresets...) }

// GroupedPreset returns shape and number of groups behind a name of [GroupedPresets], or behind any name of that
// form. Features are independent; the coefficients are three blocks of p/3 features that begin
// with 1, 2, 3, 4, 5 and are 0 from there on (Supplement D of the paper), whatever the groups.
func GroupedPreset(name string) (c Config, groups int, err error) {
	if !parse(name, []string{"", "", "", "p", "m"}, &c.Train, &c.Val, &c.Test, &c.Features, &groups) {
		return Config{}, 0, fmt.Errorf("unknown preset %q, expected TRAIN-VAL-TEST-pFEATURES-mGROUPS such as %s", name,
			strings.Join(groupedPresets, ", "))
	}
	if err := c.validate(); err != nil {
		return Config{}, 0, err
	}
	const blocks, nonzeros = 3, 5
	if c.Features < blocks*nonzeros {
		return Config{}, 0, fmt.Errorf("dataset: cannot generate %d features in groups, expected at least %d", c.Features,
			blocks*nonzeros)
	}
	c.Independent = true
	c.Coefficients = make([]float64, c.Features)
	for b := range blocks {
		for k := range nonzeros {
			c.Coefficients[b*(c.Features/blocks)+k] = float64(k + 1)
		}
	}
	return c, groups, nil
}
