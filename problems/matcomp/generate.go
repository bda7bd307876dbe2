package matcomp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
)

// Config is the shape of the synthetic data of [Generate].
type Config struct {
	// Rows and Cols are the size of the matrix.
	Rows, Cols int
	// Train and Val are how many entries of each row, and of each column, train and validate.
	Train, Val int
}

// maxEntries bounds the size of the matrix, so that a slip is an error and not the end of the memory.
const maxEntries = 1 << 26

// Presets returns the names of the data of the paper.
func Presets() []string { return []string{"60-60"} }

// Preset returns the shape behind a name: ROWS-COLS, with 2 entries of each row and each column for training and 1 for
// validation as in the paper, or ROWS-COLS-TRAIN-VAL with other numbers of them.
func Preset(name string) (Config, error) {
	c := Config{Train: 2, Val: 1}
	to := map[string]*int{"ROWS": &c.Rows, "COLS": &c.Cols, "TRAIN": &c.Train, "VAL": &c.Val}
	if !dataset.ParseShape("ROWS-COLS", name, to) && !dataset.ParseShape("ROWS-COLS-TRAIN-VAL", name, to) {
		return Config{}, fmt.Errorf(
			"unknown preset %q, expected ROWS-COLS such as %s, or ROWS-COLS-TRAIN-VAL such as 500-500-25-5", name,
			strings.Join(Presets(), ", "))
	}
	return c, c.validate()
}

func (c Config) validate() error {
	switch {
	case c.Rows < 1 || c.Cols < 1:
		return fmt.Errorf("matcomp: cannot generate a matrix of %d x %d, expected at least one row and one column", c.Rows,
			c.Cols)
	case c.Train < 1 || c.Val < 1:
		return fmt.Errorf(
			"matcomp: cannot generate %d training and %d validation entries of each row and column, expected at least 1",
			c.Train, c.Val)
	case 2*(int64(c.Train)+int64(c.Val)) > int64(min(c.Rows, c.Cols)):
		return fmt.Errorf("matcomp: %d training and %d validation entries of each row and column do not fit into %d x %d, "+
			"expected half of the smaller side at most", c.Train, c.Val, c.Rows, c.Cols)
	case float64(c.Rows)*float64(c.Cols) > maxEntries:
		return fmt.Errorf("matcomp: cannot generate a matrix of %d x %d, expected %d entries at most", c.Rows, c.Cols,
			maxEntries)
	}
	return nil
}

// The coefficients of the synthetic data: of paperGroups groups of groupSize features, group g has g for each of its
// features up to rowGroups, or colGroups, and 0 beyond.
const (
	groupSize            = 3
	rowGroups, colGroups = 4, 2
	signalToNoise        = 2
)

// Generate draws the synthetic data of the paper (Supplement D, after Feng and Simon 2018):
//
//	M_ij = x_i'theta + z_j'beta + u_i v_j + s e_ij
//
// with standard normal u, v, e, and standard normal features scaled so that the matrix of their effects has the norm of
// u v'; s makes the norm of the matrix twice that of the noise. Of each row, and of each column, Train entries train
// and Val others validate; all the rest test.
func Generate(c Config, seed uint64) (*Data, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	d := &Data{Rows: c.Rows, Cols: c.Cols}
	normal := rand.New(rand.NewPCG(seed, 1))
	draw := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = normal.NormFloat64()
		}
		return v
	}
	effect := func(rows, nonzero int) (Features, []float64, error) {
		p := paperGroups * groupSize
		f := Features{X: mat.NewDense(rows, p, draw(rows*p))}
		coefficients := make([]float64, p)
		for j := range p {
			f.Names = append(f.Names, "f"+strconv.Itoa(j+1))
			if g := j/groupSize + 1; g <= nonzero {
				coefficients[j] = float64(g)
			}
		}
		var err error
		f.Groups, err = groups.Equal(p, paperGroups)
		out := make([]float64, rows)
		for i := range out {
			for j, v := range f.X.RawRowView(i) {
				out[i] += float64(v * coefficients[j]) // no fused multiply-add: the same bytes on every machine
			}
		}
		return f, out, err
	}
	var rows, cols []float64
	var err error
	if d.Row, rows, err = effect(c.Rows, rowGroups); err != nil {
		return nil, err
	}
	if d.Col, cols, err = effect(c.Cols, colGroups); err != nil {
		return nil, err
	}
	u, v := draw(c.Rows), draw(c.Cols)
	linear := 0.0
	for _, a := range rows {
		for _, b := range cols {
			linear += float64((a + b) * (a + b))
		}
	}
	low := 0.0
	for _, a := range u {
		for _, b := range v {
			low += float64(float64(a*b) * float64(a*b))
		}
	}
	scale := math.Sqrt(low / linear)
	for _, v := range [][]float64{d.Row.X.RawMatrix().Data, d.Col.X.RawMatrix().Data, rows, cols} {
		floats.Scale(scale, v)
	}
	m := make([]float64, c.Rows*c.Cols)
	size := 0.0
	for i, a := range rows {
		for j, b := range cols {
			value := a + b + float64(u[i]*v[j])
			m[i*c.Cols+j] = value
			size += float64(value * value)
		}
	}
	noise := draw(len(m))
	total := 0.0
	for _, e := range noise {
		total += float64(e * e)
	}
	s := math.Sqrt(size/total) / signalToNoise
	set := c.divide(rand.New(rand.NewPCG(seed, 2)))
	for k := range m {
		e := Entry{k / c.Cols, k % c.Cols, m[k] + float64(s*noise[k])}
		switch set[k] {
		case 1:
			d.Train = append(d.Train, e)
		case 2:
			d.Val = append(d.Val, e)
		default:
			d.Test = append(d.Test, e)
		}
	}
	return d, nil
}

// divide says which entries train (1), validate (2) and test (0). An entry that is drawn by its row and by its column
// counts for both.
func (c Config) divide(r *rand.Rand) []int8 {
	set := make([]int8, c.Rows*c.Cols)
	draw := func(which int8, lines, length, count int, at func(line, k int) int) {
		for line := range lines {
			left := count
			for _, k := range r.Perm(length) {
				if left == 0 {
					break
				}
				if p := at(line, k); set[p] == 0 || set[p] == which {
					set[p] = which
					left--
				}
			}
		}
	}
	byRow := func(i, j int) int { return i*c.Cols + j }
	byCol := func(j, i int) int { return i*c.Cols + j }
	draw(1, c.Rows, c.Cols, c.Train, byRow)
	draw(1, c.Cols, c.Rows, c.Train, byCol)
	draw(2, c.Rows, c.Cols, c.Val, byRow)
	draw(2, c.Cols, c.Rows, c.Val, byCol)
	return set
}
