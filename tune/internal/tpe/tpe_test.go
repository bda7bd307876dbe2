package tpe

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/conetune/conetune/internal/must"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// function is one of testdata/compare.py, on the unit cube, less its smallest value.
type function struct {
	dim int
	f   func(u []float64) float64
}

var functions = map[string]function{
	"sphere": {2, func(u []float64) float64 {
		sum := 0.0
		for _, v := range u {
			sum += math.Pow(10*v-5-1.3, 2)
		}
		return sum
	}},
	"rosenbrock": {2, func(u []float64) float64 {
		x, y := 4*u[0]-2, 4*u[1]-2
		return 100*math.Pow(y-x*x, 2) + math.Pow(1-x, 2)
	}},
	"branin": {2, func(u []float64) float64 {
		x, y := 15*u[0]-5, 15*u[1]
		return math.Pow(y-5.1/(4*math.Pi*math.Pi)*x*x+5/math.Pi*x-6, 2) + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10 -
			0.39788735772973816
	}},
	"hartmann6": {6, func(u []float64) float64 {
		a := [4][6]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8},
			{17, 8, 0.05, 10, 0.1, 14}}
		p := [4][6]float64{{1312, 1696, 5569, 124, 8283, 5886}, {2329, 4135, 8307, 3736, 1004, 9991},
			{2348, 1451, 3522, 2883, 3047, 6650}, {4047, 8828, 8732, 5743, 1091, 381}}
		sum := 3.322368011391339
		for i, c := range []float64{1, 1.2, 3, 3.2} {
			r := 0.0
			for j, v := range u {
				r += a[i][j] * math.Pow(v-1e-4*p[i][j], 2)
			}
			sum -= c * math.Exp(-r)
		}
		return sum
	}},
}

// table is the bilinear interpolation of values on a grid of equal steps, less the smallest.
func table(t *testing.T, name string) func(u []float64) float64 {
	f := must.Of(os.Open("testdata/" + name + ".csv"))(t)
	defer f.Close()
	rows := must.Of(csv.NewReader(f).ReadAll())(t)
	value := make([][]float64, len(rows))
	least := math.Inf(1)
	for i, row := range rows {
		for _, field := range row {
			v := must.Of(strconv.ParseFloat(field, 64))(t)
			value[i] = append(value[i], v)
			least = math.Min(least, v)
		}
	}
	n := len(rows) - 1
	return func(u []float64) float64 {
		i, j := min(int(u[0]*float64(n)), n-1), min(int(u[1]*float64(n)), n-1)
		a, b := u[0]*float64(n)-float64(i), u[1]*float64(n)-float64(j)
		return (1-a)*((1-b)*value[i][j]+b*value[i][j+1]) + a*((1-b)*value[i+1][j]+b*value[i+1][j+1]) - least
	}
}

// bests are the best of 100 values, by seed.
func bests(dim int, f func([]float64) float64, s Settings, seeds int) []float64 {
	var out []float64
	for seed := range seeds {
		t := New(dim, rand.New(rand.NewPCG(uint64(seed), 7)), s)
		best := math.Inf(1)
		for range 100 {
			x := t.Ask()
			v := f(x)
			t.Tell(x, v)
			best = math.Min(best, v)
		}
		out = append(out, best)
	}
	return out
}

// logs are the decimal logarithms, whose means do not hang on a single bad seed.
func logs(v []float64) (mean, standardError float64) {
	var l []float64
	for _, x := range v {
		l = append(l, math.Log10(x))
	}
	mean, sd := stat.MeanStdDev(l, nil)
	return mean, sd / math.Sqrt(float64(len(l)))
}

// With the settings of hyperopt and of Optuna, the best of 100 values over 30 seeds is theirs within noise.
func TestLikePeers(t *testing.T) {
	raw := must.Of(os.ReadFile("testdata/peers.json"))(t)
	var peers map[string]map[string][]float64
	require.NoError(t, json.Unmarshal(raw, &peers))
	for _, name := range []string{"elastic-net-100-20-250-p250", "elastic-net-100-100-250-p250"} {
		functions[name] = function{2, table(t, name)}
	}
	for name, f := range functions {
		for peer, settings := range map[string]Settings{"hyperopt": Hyperopt(), "optuna": Optuna()} {
			want, e1 := logs(peers[name][peer])
			got, e2 := logs(bests(f.dim, f.f, settings, 30))
			t.Logf("%-30s %-8s %.3f +- %.3f, here %.3f +- %.3f", name, peer, want, e1, got, e2)
			require.InDelta(t, want, got, 2.5*math.Hypot(e1, e2), "%s as %s", name, peer)
		}
	}
}

// The first points are the draws of the source, later ones come from the densities, which integrate to 1 and
// are as wide as the comment says.
func TestDensity(t *testing.T) {
	for _, points := range [][]float64{nil, {0.3}, {0.9}, {0.2, 0.2, 0.8}, {0.5, 0.5}, {0.1, 0.7, 0.3, 0.9, 0.05}} {
		d := newDensity(points)
		require.Len(t, d.centre, len(points)+1)
		require.IsNonDecreasing(t, d.centre)
		const steps = 20000
		sum := 0.0
		for i := range steps {
			sum += d.at((float64(i) + 0.5) / steps)
		}
		require.InDelta(t, 1, sum/steps, 1e-6)
		source := rand.New(rand.NewPCG(1, 2))
		mean, want := 0.0, 0.0
		for range steps {
			x := d.draw(source)
			require.True(t, x >= 0 && x < 1)
			mean += x / steps
		}
		for i := range steps {
			x := (float64(i) + 0.5) / steps
			want += x * d.at(x) / steps
		}
		require.InDelta(t, want, mean, 0.01)
	}
	// By hand: neighbours of 0.2 are 0.1 and 0.5 (the prior), so its width is 0.3; ends have one neighbour; floor 1/5.
	d := newDensity([]float64{0.2, 0.1, 0.9})
	require.Equal(t, []float64{0.1, 0.2, 0.5, 0.9}, d.centre)
	require.InDeltaSlice(t, []float64{0.2, 0.3, 1, 0.4}, d.width, 1e-15)
	require.InDeltaSlice(t, []float64{0.25 / 0.2, 0.25 / 0.3, 0.25, 0.25 / 0.4}, d.height, 1e-15)
	require.InDeltaSlice(t, []float64{0.25, 0.5, 0.75, 1}, d.total, 1e-15)
}

func TestFading(t *testing.T) {
	require.Equal(t, []float64{1, 1, 1}, fading(3))
	w := fading(29)
	require.InDeltaSlice(t, []float64{1.0 / 29, (1.0/29)*2/3 + 1.0/3, (1.0/29)/3 + 2.0/3, 1}, w[:4], 1e-15)
	require.Equal(t, 1.0/26, fading(26)[0])
	for _, v := range w[4:] {
		require.Equal(t, 1.0, v)
	}
}

// Points without a value are never among the best.
func TestFailures(t *testing.T) {
	early := Optuna()
	early.Startup = 4
	s := New(1, rand.New(rand.NewPCG(3, 3)), early)
	for _, p := range []struct{ x, value float64 }{{0.1, math.NaN()}, {0.2, math.Inf(1)}, {0.7, 3}, {0.3, 5}} {
		s.Tell([]float64{p.x}, p.value)
	}
	require.Equal(t, []bool{false, false, true, false}, s.best())
	for range 50 {
		x := s.Ask()
		require.True(t, x[0] >= 0 && x[0] < 1)
		s.Tell(x, math.NaN())
	}
	require.Empty(t, New(0, rand.New(rand.NewPCG(3, 3)), Optuna()).Ask())
}

// Look for the smallest value of a function on the unit square.
func Example() {
	f := func(x []float64) float64 { return math.Pow(x[0]-0.2, 2) + math.Pow(x[1]-0.9, 2) }
	s := New(2, rand.New(rand.NewPCG(1, 1)), Optuna())
	best := math.Inf(1)
	for range 100 {
		x := s.Ask()
		value := f(x)
		s.Tell(x, value)
		best = math.Min(best, value)
	}
	fmt.Println("within 0.05 of the minimum:", math.Sqrt(best) < 0.05)
	// Output:
	// within 0.05 of the minimum: true
}
