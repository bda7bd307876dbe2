package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// table is the shape of a table.
type table struct {
	rows, features int
	entries        int // of a row; 0 means that it is dense
}

// nonzeros is their number, for sparse rows before twins are left out.
func (t table) nonzeros() int {
	if t.entries > 0 {
		return t.rows * t.entries
	}
	return t.rows * t.features
}

// sweep is a sequence of tables that grow, and what is run on them.
type sweep struct {
	name string
	jobs []job
	grow func(k int) table // k = 0, 1, .. by half a decade
}

// halfDecades are the tables of a sweep.
const halfDecades = 7

func (s sweep) tables() (list []table) {
	for k := range halfDecades {
		list = append(list, s.grow(k))
	}
	return list
}

// times is base times 10^(k/2), with one digit that counts.
func times(base, k int) int {
	for range k / 2 {
		base *= 10
	}
	return base * []int{1, 3}[k%2]
}

var (
	elastic = []job{{"elastic-net", "vf-idca"}, {"elastic-net", "hoag"}}
	sweeps  = []sweep{
		{"rows", append(slices.Clone(elastic), job{"logistic", "vf-idca"}), func(k int) table { return table{rows: times(1000, k), features: 50} }},
		{"features", elastic, func(k int) table { return table{rows: 200, features: times(1000, k)} }},
		{"nonzeros", elastic, func(k int) table { return table{rows: times(100_000, k) / 60, features: 20_000, entries: 60} }},
	}
)

// strong are the features that the target depends on.
const strong = 20

// write writes the files train, val and test of LIBSVM, row by row. The same shape gives the same bytes.
func (t table) write(dir string, labels bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(t.rows), uint64(t.features)))
	weights := make([]float64, strong)
	for j := range weights {
		weights[j] = rng.NormFloat64()
	}
	for _, part := range []struct {
		name string
		rows int
	}{{"train", t.rows - t.rows/2}, {"val", t.rows / 4}, {"test", t.rows/2 - t.rows/4}} {
		f, err := os.Create(filepath.Join(dir, part.name+".svm"))
		if err != nil {
			return err
		}
		defer f.Close()
		w := bufio.NewWriterSize(f, 1<<20)
		for range part.rows {
			if _, err := w.Write(t.row(rng, weights, labels)); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// row makes a line.
func (t table) row(rng *rand.Rand, weights []float64, labels bool) []byte {
	var index []int
	if t.entries > 0 {
		for range t.entries { // most of them in few columns, all of them in some row
			u := rng.Float64()
			index = append(index, min(t.features-1, int(float64(t.features)*u*u*u)))
		}
		slices.Sort(index)
		index = slices.Compact(index)
	}
	var text []byte
	signal, k := 0.0, 0
	entry := func(j int, v float64) {
		if j%7 == 0 && j/7 < strong {
			signal += weights[j/7] * v
		}
		text = append(text, ' ')
		text = strconv.AppendInt(text, int64(j+1), 10)
		text = append(text, ':')
		text = strconv.AppendFloat(text, v, 'f', 3, 64)
	}
	if t.entries > 0 {
		for _, k = range index {
			entry(k, 0.5+rng.Float64())
		}
	} else {
		for k = range t.features {
			entry(k, rng.NormFloat64())
		}
	}
	size := math.Sqrt(strong)
	if t.entries > 0 {
		size = 1
	}
	y := signal + 0.5*size*rng.NormFloat64()
	if labels {
		return fmt.Appendf(nil, "%d%s\n", map[bool]int{false: -1, true: 1}[y > 0], text)
	}
	return fmt.Appendf(nil, "%.5g%s\n", y, text)
}
