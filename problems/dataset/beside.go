package dataset

import (
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/textfile"
)

// ReadBeside reads the files that belong to a table which was read by [Read]: its validation and test rows. It returns the table and what was
// read, nil for an empty path. Files are read as [ReadLike] does, but where all are in the format of LIBSVM a feature may occur in any of them: there are as many as
// the largest index of all says, and a table in which the last ones do not occur has zeros for them. Where the index 0
// occurs in one of them, the indices of all count from 0.
func ReadBeside(table *Data, paths ...string) ([]*Data, error) {
	all := []*Data{table}
	_, p := table.Dims()
	zero := formats.CountFromZero(table.Features)
	unnamed, plain := zero || slices.Equal(table.Features, formats.Names(p)), true
	for _, path := range paths {
		var d *Data
		if path != "" {
			var err error
			if d, err = readBeside(path, table, unnamed); err != nil {
				return nil, err
			}
			zero = zero || unnamed && formats.CountFromZero(d.Features)
			plain = plain && slices.Equal(d.Features, table.Features)
		}
		all = append(all, d)
	}
	if plain {
		for i, d := range all[1:] {
			if d != nil {
				all[i+1] = d.like(table)
			}
		}
		return all, nil
	}
	first, widest := 1, 0
	if zero {
		first = 0
	}
	shift := func(d *Data) int { // where its first feature stands
		if zero && !formats.CountFromZero(d.Features) {
			return 1
		}
		return 0
	}
	for _, d := range all {
		if d != nil {
			widest = max(widest, len(d.Features)+shift(d))
		}
	}
	names := formats.NamesFrom(first, widest)
	for i, d := range all {
		switch {
		case d == nil || i == 0 && slices.Equal(names, d.Features):
		case i == 0:
			all[0] = d.widened(names, shift(d))
		default:
			all[i] = d.widened(names, shift(d)).like(all[0])
		}
	}
	return all, nil
}

// readBeside is ReadLike with as many features as the file says, where it is in the format of LIBSVM and goes with a table whose features have no names.
func readBeside(path string, table *Data, unnamed bool) (*Data, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if !unnamed || !formats.IsLIBSVM(s) {
		return readLike(s, table)
	}
	t, err := formats.ReadTableSource(s, formats.Options{})
	if err != nil {
		return nil, err
	}
	t.Target = table.Target
	return FromTable(t), nil
}

// widened is the table with zeros for further features, of which so many stand before its own; names are those of all.
// Sparse tables share their memory with it where there are none before. A dense one becomes sparse where that is
// smaller.
func (d *Data) widened(names []string, before int) *Data {
	n, p := d.Dims()
	q := len(names)
	out := *d
	out.Features = names
	if p == q {
		return &out
	}
	if !d.Sparse() && float64(d.Nonzeros()) < float64(n)*float64(q)/4 {
		out.X = d.Compress().X
	}
	if x, ok := out.compressed(); ok {
		raw := x.RawMatrix()
		index := raw.Ind
		if before > 0 {
			index = slices.Clone(index)
			for k := range index {
				index[k] += before
			}
		}
		out.X = sparse.NewCSR(n, q, raw.Indptr, index, raw.Data)
		return &out
	}
	x := mat.NewDense(n, q, nil)
	for i := range n {
		d.Fill(x.RawRowView(i)[before:before+p], i)
	}
	out.X = x
	return &out
}
