package dataset

import (
	"fmt"
	"strings"
)

// labelledPresets are sizes for a classifier: rows for the folds, test rows, features, folds.
var labelledPresets = []string{"300-300-p30-t3", "300-300-p30-t6", "30000-1000-p123-t3"}

// LabelledPresets returns names for [LabelledPreset].
func LabelledPresets() []string { return append([]string(nil), labelledPresets...) }

// LabelledPreset returns the shape behind a name ROWS-TEST-pFEATURES-tFOLDS, for [GenerateFolds].
func LabelledPreset(name string) (c Config, folds int, err error) {
	if !parse(name, []string{"", "", "p", "t"}, &c.Train, &c.Test, &c.Features, &folds) {
		return Config{}, 0, fmt.Errorf("unknown preset %q, expected ROWS-TEST-pFEATURES-tFOLDS such as %s", name,
			strings.Join(labelledPresets, ", "))
	}
	c.Val = 1 // not used
	if folds < 2 || folds > c.Train {
		return Config{}, 0, fmt.Errorf("%d folds of %d rows, expected 2 to %d", folds, c.Train, c.Train)
	}
	return c, folds, c.validate()
}

// GenerateFolds draws rows as [Generate] does, and splits those for training into folds. Labelled, they have the label
// 1 where y = Xb + e is positive and -1 elsewhere, and each fold has its share of both labels. The validation rows of
// the shape are left out. It returns the coefficients b too.
func GenerateFolds(c Config, folds int, seed uint64, labelled bool) (*CrossValidation, []float64, error) {
	s, b, err := Generate(c, seed)
	if err != nil {
		return nil, nil, err
	}
	var classes []int
	if labelled {
		s = s.Map(func(y float64) float64 {
			if y > 0 {
				return 1
			}
			return -1
		}).(*Split)
		for _, y := range s.Train.Y {
			classes = append(classes, int(1+y)/2)
		}
	}
	cv, err := CrossValidate(s.Train, folds, seed, classes)
	if err != nil {
		return nil, nil, err
	}
	cv.Test = s.Test
	return cv, b, nil
}
