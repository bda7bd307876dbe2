package predict

import (
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
)

// intervals are the bounds of --interval: of all rows in JSON, and how those of a row are found.
type intervals struct {
	Level float64   `json:"interval,omitempty"`
	Lower []float64 `json:"lower,omitempty"`
	Upper []float64 `json:"upper,omitempty"`

	of *model.Intervals // nil without
}

// newIntervals are those of no rows yet, of a level from 0 to 1 that is not 0 where they are wanted.
func newIntervals(m *model.Model, level float64) (out intervals, err error) {
	if level == 0 {
		return out, nil
	}
	out.Level = level
	if out.of, err = m.Intervals(level); err != nil {
		err = cli.BadInputf("--interval: %w", err)
	}
	return out, err
}

// row are the bounds of row k of a block, after others.
func (i *intervals) row(more []float64, block *dataset.Data, k int, offset float64) ([]float64, error) {
	if i.of == nil {
		return more, nil
	}
	low, high, err := i.of.Of(func(coefficients []float64) float64 { return block.Dot(k, coefficients) }, offset)
	return append(more, low, high), err
}

// keep puts the bounds of a row, the last of its numbers, into the lists of JSON, and returns the others.
func (i *intervals) keep(more []float64) []float64 {
	if i.of == nil {
		return more
	}
	n := len(more)
	i.Lower, i.Upper = append(i.Lower, more[n-2]), append(i.Upper, more[n-1])
	return more[:n-2]
}

// names are those of the bounds in the head of a table.
func (i *intervals) names() []string {
	if i.of == nil {
		return nil
	}
	return []string{"lower", "upper"}
}
