package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// size is that of a table.
type size struct {
	name           string
	rows, features int
	quick          bool
}

var sizes = []size{{"small", 80, 10, true}, {"medium", 400, 30, true}, {"large", 1200, 60, false}}

// groupSize is the number of features of a group.
const groupSize = 5

// table is made from the seed 1: the same kind and size give the same bytes. Features are normal with variance 1 and
// correlation 0.5^|j-k|; of their coefficients the first tenth is 1, the second -1, and the others are 0. With s the
// sum of coefficients times features in units of its standard deviation, and e normal, a row has
//
//	numbers   y = s + e/2
//	outliers  the same, with 5 e in every tenth row
//	skewed    y = s + exp(e)
//	labels    y = 1 where s + e/2 > 0, else -1
//	classes   y = a, b or c: s + e/2 below -1/2, above 1/2, between
//	counts    y of the Poisson distribution of mean exp(s/2)
//	times     time exponential of rate exp(s), unless one of rate 1/2 is earlier: event 0
//	targets   y1, y2, y3 = s, 2 s, -s, each with an e/2 of its own
//
// and entries are a third of those of a square matrix u v' + 2 w z' + e/2 with normal u, v, w, z, drawn at random: row,
// col and value. Numbers have six digits.
type table struct {
	kind string
	size size
}

func (t *table) file() string { return t.kind + "-" + t.size.name + ".csv" }

// write writes the table into a folder where it is not yet there.
func (t *table) write(dir string) error {
	path := filepath.Join(dir, t.file())
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, uint64(t.size.rows)))
	if t.kind == "entries" {
		t.entries(w, rng)
	} else {
		t.lines(w, rng)
	}
	return w.Flush()
}

// headings are the targets of kinds whose target is not y alone.
var headings = map[string]string{"times": "time,event", "targets": "y1,y2,y3"}

func (t *table) lines(w *bufio.Writer, rng *rand.Rand) {
	p := t.size.features
	fmt.Fprint(w, cmp.Or(headings[t.kind], "y"))
	b, x, variance := make([]float64, p), make([]float64, p), 0.0
	for j := range p {
		fmt.Fprintf(w, ",x%d", j+1)
		switch j / (p / 10) {
		case 0:
			b[j] = 1
		case 1:
			b[j] = -1
		}
		for k := range j {
			variance += 2 * b[j] * b[k] * math.Pow(0.5, float64(j-k))
		}
		variance += b[j] * b[j]
	}
	for i := range t.size.rows {
		s := 0.0
		for j := range p {
			if x[j] = rng.NormFloat64(); j > 0 {
				x[j] = x[j-1]/2 + math.Sqrt(0.75)*x[j]
			}
			s += b[j] * x[j]
		}
		fmt.Fprintf(w, "\n%s", t.target(rng, i, s/math.Sqrt(variance)))
		for _, v := range x {
			fmt.Fprintf(w, ",%.6g", v)
		}
	}
	fmt.Fprintln(w)
}

// target is the text of a row's target, or targets.
func (t *table) target(rng *rand.Rand, row int, s float64) string {
	y := func(scale float64) float64 { return s + scale*rng.NormFloat64() }
	switch t.kind {
	case "outliers":
		if row%10 == 9 {
			return fmt.Sprintf("%.6g", y(5))
		}
	case "skewed":
		return fmt.Sprintf("%.6g", s+math.Exp(rng.NormFloat64()))
	case "labels":
		return fmt.Sprint(map[bool]int{false: -1, true: 1}[y(0.5) > 0])
	case "classes":
		switch v := y(0.5); {
		case v < -0.5:
			return "a"
		case v > 0.5:
			return "b"
		}
		return "c"
	case "counts": // as many uniform numbers as have a product above exp(-mean)
		n, product, least := 0, rng.Float64(), math.Exp(-math.Exp(s/2))
		for ; product > least; n++ {
			product *= rng.Float64()
		}
		return fmt.Sprint(n)
	case "times":
		event, censored := rng.ExpFloat64()/math.Exp(s), 2*rng.ExpFloat64()
		return fmt.Sprintf("%.6g,%d", min(event, censored), map[bool]int{false: 0, true: 1}[event <= censored])
	case "targets":
		return fmt.Sprintf("%.6g,%.6g,%.6g", y(0.5), y(0.5)+s, y(0.5)-2*s)
	}
	return fmt.Sprintf("%.6g", y(0.5))
}

// entries has a matrix with as many rows as the table has features, and ten more.
func (t *table) entries(w *bufio.Writer, rng *rand.Rand) {
	n := t.size.features + 10
	f := make([]float64, 4*n) // u, v, w and z
	for i := range f {
		f[i] = rng.NormFloat64()
	}
	fmt.Fprintln(w, "row,col,value")
	for i := range n {
		for j := range n {
			if rng.IntN(3) == 0 {
				fmt.Fprintf(w, "%d,%d,%.6g\n", i, j, f[i]*f[n+j]+2*f[2*n+i]*f[3*n+j]+rng.NormFloat64()/2)
			}
		}
	}
}
