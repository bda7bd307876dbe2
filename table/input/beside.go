package input

import (
	"slices"

	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
)

// beside reads the files that belong to a table of numbers: its validation and test rows. It returns the table and what
// was read, nil for an empty path. A file must have the target and the features of the table, in the same order. But
// where all are in the format of LIBSVM a feature may occur in any of them, see [aligned].
func (in *Input) beside(table *dataset.Data, paths ...string) ([]*dataset.Data, error) {
	all := []*dataset.Data{table}
	unnamed := libsvm.CountFromZero(table.Features) || slices.Equal(table.Features, libsvm.Names(len(table.Features)))
	for _, path := range paths {
		var d *dataset.Data
		if path != "" {
			var err error
			if d, err = in.readBeside(path, table, unnamed); err != nil {
				return nil, err
			}
		}
		all = append(all, d)
	}
	if unnamed {
		aligned(all)
	}
	for i, d := range all[1:] {
		if d != nil {
			all[i+1] = d.Like(all[0])
		}
	}
	return all, nil
}

// aligned gives tables whose features have numbers for names the same features: as many as the largest index of all says,
// with zeros in a table in which the last ones do not occur. Where the index 0 occurs in one of them, the indices of all
// count from 0.
func aligned(all []*dataset.Data) {
	first, widest := 1, 0
	for _, d := range all {
		if d != nil && libsvm.CountFromZero(d.Features) {
			first = 0
		}
	}
	before := func(d *dataset.Data) int { // features before its own
		if first == 0 && !libsvm.CountFromZero(d.Features) {
			return 1
		}
		return 0
	}
	for _, d := range all {
		if d != nil {
			widest = max(widest, len(d.Features)+before(d))
		}
	}
	names := libsvm.NamesFrom(first, widest)
	for i, d := range all {
		if d != nil && !slices.Equal(d.Features, names) {
			all[i] = d.Widened(names, before(d))
		}
	}
}

// readBeside reads one of them: with as many features as the file says, where it is in the format of LIBSVM and goes
// with a table whose features have no names, and else with those of the table.
func (in *Input) readBeside(path string, table *dataset.Data, unnamed bool) (*dataset.Data, error) {
	if unnamed && in.IsLIBSVM(path) {
		d, _, err := in.libsvm(path, "", nil)
		if err == nil {
			d.Target = table.Target
		}
		return d, err
	}
	d, _, err := in.Numbers(path, table.Target, table.Features)
	if err != nil {
		return nil, err
	}
	if diff := dataset.Difference(table, d); diff != "" {
		return nil, &textfile.Error{File: path, Reason: "does not fit the training set: " + diff}
	}
	d.Features = table.Features
	return d, nil
}
