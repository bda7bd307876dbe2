package dataset

import (
	"github.com/conetune/conetune/table/split"
)

// SplitRows deals out the rows of d at random, without overlap, to the sets of spec, see [split.Random].
func SplitRows(d *Data, spec string, seed uint64) (*Split, error) {
	n, _ := d.Dims()
	parts, err := split.Random(n, spec, seed)
	if err != nil {
		return nil, err
	}
	return d.Divide(parts), nil
}

// Divide are the rows of two or three sets: for training, validation and, if there is a third one, for the test.
func (d *Data) Divide(parts [][]int) *Split {
	var s Split
	for k, set := range []**Data{&s.Train, &s.Val, &s.Test}[:len(parts)] {
		*set = d.Rows(parts[k])
	}
	return &s
}
