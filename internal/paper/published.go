package paper

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Figure is a number of the paper with what stands behind its +-, which by its size is the standard deviation over 30 repeats.
type Figure struct{ Mean, Spread float64 }

// String writes it with two decimals.
func (f Figure) String() string { return fmt.Sprintf("%.2f ± %.2f", f.Mean, f.Spread) }

// Published are the paper's figures of a method on a row: seconds on the machine of its authors, and the errors of the
// iterate.
type Published struct{ Seconds, Validation, Test Figure }

// Paper returns the paper's figures of a method on a row; false where it has none.
func Paper(table, row, method string) (Published, bool) {
	p, ok := published()[[3]string{table, row, method}]
	return p, ok
}

// tables of the paper: rows of the support vector machine are named without the ending _scale.
//
//go:embed published.csv
var tables string

// published reads them once.
var published = sync.OnceValue(func() map[[3]string]Published {
	lines, err := csv.NewReader(strings.NewReader(tables)).ReadAll()
	if err != nil {
		panic(err) // it is part of the program
	}
	out := make(map[[3]string]Published)
	for _, line := range lines[1:] {
		var p Published
		for k, to := range []*float64{
			&p.Seconds.Mean, &p.Seconds.Spread, &p.Validation.Mean, &p.Validation.Spread, &p.Test.Mean, &p.Test.Spread,
		} {
			if *to, err = strconv.ParseFloat(line[3+k], 64); err != nil {
				panic(err)
			}
		}
		out[[3]string(line[:3])] = p
	}
	return out
})
