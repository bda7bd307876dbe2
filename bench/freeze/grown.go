package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/figure"
)

// grown is a table that grows: half of its rows for training and a quarter each for validation and test. Features are
// normal, or have about 60 entries a row, most of them in few columns; the target is that of 20 features and as much
// noise as half of what they say, or its sign.
type grown struct {
	rows, features int
	entries        int // of a row; 0 means that it is dense
	labels         bool
}

// nonzeros is their number, for sparse rows before entries at one place are joined.
func (t grown) nonzeros() int {
	if t.entries > 0 {
		return t.rows * t.entries
	}
	return t.rows * t.features
}

// sweeps are sequences of tables that grow by half a decade, and the models and methods that are run on them.
var sweeps = []struct {
	name string
	jobs [][2]string
	grow func(k int) grown
}{
	{"rows", append(slices.Clone(elastic), [2]string{"logistic", "vf-idca"}),
		func(k int) grown { return grown{rows: halfDecades(1000, k), features: 50} }},
	{"features", elastic, func(k int) grown { return grown{rows: 200, features: halfDecades(1000, k)} }},
	{"nonzeros", elastic, func(k int) grown {
		return grown{rows: halfDecades(100_000, k) / 60, features: 20_000,
			entries: 60}
	}},
}

var elastic = [][2]string{{"elastic-net", "vf-idca"}, {"elastic-net", "hoag"}}

// mostHalfDecades is the number of tables of a sweep.
const mostHalfDecades = 7

// halfDecades is base times 10^(k/2), with one digit that counts.
func halfDecades(base, k int) int { return base * []int{1, 3}[k%2] * int(math.Pow10(k/2)) }

// grownTables are the cases of the sweeps, tables of few nonzeros first.
func grownTables(most float64) (jobs []job) {
	for _, s := range sweeps {
		for k := range mostHalfDecades {
			for _, j := range s.jobs {
				t := s.grow(k)
				t.labels = j[0] == "logistic"
				if float64(t.nonzeros()) > most {
					continue
				}
				series := s.name + " " + j[0] + " " + j[1]
				args := []string{"tune", j[0], "--method", j[1], "--json"}
				for _, part := range parts {
					args = append(args, "--"+part, madeFolder+t.folder()+"/"+part+".svm")
				}
				name := fmt.Sprintf("grown/%s/%dx%d/%s/%s", s.name, t.rows, t.features, j[0], j[1])
				jobs = append(jobs, job{name: name, args: args, table: t, series: series})
			}
		}
	}
	return jobs
}

// strong are the features that the target depends on.
const strong = 20

// parts are the files of a table.
var parts = []string{"train", "val", "test"}

func (t grown) folder() string {
	return fmt.Sprintf("grown/%d-%d%s", t.rows, t.features, map[bool]string{true: "-labels"}[t.labels])
}

// write writes the parts in the format of LIBSVM, row by row, in the place of the table before, which may be large.
func (t grown) write(dir string) error {
	path := filepath.Join(dir, t.folder())
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.MkdirAll(path, 0o755)); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(t.rows), uint64(t.features)))
	weights := make([]float64, strong)
	for j := range weights {
		weights[j] = rng.NormFloat64()
	}
	for k, rows := range []int{t.rows - t.rows/2, t.rows / 4, t.rows/2 - t.rows/4} {
		f, err := os.Create(filepath.Join(path, parts[k]+".svm"))
		if err != nil {
			return err
		}
		defer f.Close()
		w := bufio.NewWriterSize(f, 1<<20)
		for range rows {
			if _, err := w.Write(t.row(rng, weights)); err != nil {
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
func (t grown) row(rng *rand.Rand, weights []float64) []byte {
	var text []byte
	signal := 0.0
	entry := func(j int, v float64) {
		if j%7 == 0 && j/7 < strong {
			signal += weights[j/7] * v
		}
		text = append(text, ' ')
		text = strconv.AppendInt(text, int64(j+1), 10)
		text = append(text, ':')
		text = strconv.AppendFloat(text, v, 'f', 3, 64)
	}
	size := 1.0
	if t.entries > 0 {
		var index []int
		for range t.entries { // most of them in few columns, all of them in some row
			u := rng.Float64()
			index = append(index, min(t.features-1, int(float64(t.features)*u*u*u)))
		}
		slices.Sort(index)
		for _, k := range slices.Compact(index) {
			entry(k, 0.5+rng.Float64())
		}
	} else {
		size = math.Sqrt(strong)
		for k := range t.features {
			entry(k, rng.NormFloat64())
		}
	}
	y := signal + 0.5*size*rng.NormFloat64()
	if t.labels {
		return fmt.Appendf(nil, "%d%s\n", map[bool]int{false: -1, true: 1}[y > 0], text)
	}
	return fmt.Appendf(nil, "%.5g%s\n", y, text)
}

// draw makes the picture of the tables that grow: seconds and memory over their nonzeros, each series with its slope.
func draw(f *file) figure.Figure {
	seconds, memory := figure.Panel{YLabel: "CPU seconds", LogY: true}, figure.Panel{YLabel: "peak memory (MB)",
		LogY: true}
	for _, j := range grownTables(math.Inf(1)) {
		r := f.find(j.name)
		if r == nil || r.grade() == 0 {
			continue
		}
		words := strings.Fields(j.series) // the sweep, with logistic or the method
		name, x := words[0]+" "+words[2], float64(j.table.(grown).nonzeros())
		if words[1] == "logistic" {
			name = words[0] + " " + words[1]
		}
		seconds.Add(name, len(seconds.Lines), x, r.Seconds)
		memory.Add(name, len(memory.Lines), x, r.Peak)
	}
	for _, lines := range [][]figure.Line{seconds.Lines, memory.Lines} {
		for k := range lines {
			lines[k].Name += slope(lines[k].X, lines[k].Y)
		}
	}
	return figure.Figure{Title: "Growth with the table", XLabel: "nonzeros of the table", LogX: true,
		Panels: []figure.Panel{seconds, memory}}
}

// slope is that of the last decade of a line, in words.
func slope(x, y []float64) string {
	n := len(x) - 1
	first := n
	for first > 0 && x[n]/x[first-1] < 11 {
		first--
	}
	if first == n || !(y[first] > 0) || !(y[n] > 0) {
		return ""
	}
	return fmt.Sprintf(": %.1f", math.Log(y[n]/y[first])/math.Log(x[n]/x[first]))
}
