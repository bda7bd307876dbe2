package dataset

import (
	"fmt"

	"github.com/conetune/conetune/table/split"
)

// ReadAndSplit reads a file and splits its rows at random; see [Read] and
// [SplitRows].
func ReadAndSplit(path, spec string, seed uint64, target string) (*Split, error) {
	d, err := Read(path, target)
	if err != nil {
		return nil, err
	}
	s, err := SplitRows(d, spec, seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

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
