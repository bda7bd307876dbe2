package tpe

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// The functions of testdata/compare.py, on the unit cube, less their smallest values.
var functions = map[string]struct {
	dim int
	f   func(u []float64) float64
}{
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
		return math.Pow(y-5.1/(4*math.Pi*math.Pi)*x*x+5/math.Pi*x-6, 2) + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10 - 0.39788735772973816
	}},
	"hartmann6": {6, func(u []float64) float64 {
		a := [4][6]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}}
		p := [4][6]float64{{1312, 1696, 5569, 124, 8283, 5886}, {2329, 4135, 8307, 3736, 1004, 9991}, {2348, 1451, 3522, 2883, 3047, 6650}, {4047, 8828, 8732, 5743, 1091, 381}}
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

// optuna are the settings by which Optuna differs.
var optuna = Settings{Startup: 10, Best: func(n int) int { return min(25, int(math.Ceil(0.1*float64(n)))) }}

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
	raw, err := os.ReadFile("testdata/peers.json")
	require.NoError(t, err)
	var peers map[string]map[string][]float64
	require.NoError(t, json.Unmarshal(raw, &peers))
	for name, f := range functions {
		for peer, settings := range map[string]Settings{"hyperopt": {}, "optuna": optuna} {
			want, e1 := logs(peers[name][peer])
			got, e2 := logs(bests(f.dim, f.f, settings, 30))
			t.Logf("%-10s %-8s %.3f +- %.3f, here %.3f +- %.3f", name, peer, want, e1, got, e2)
			require.InDelta(t, want, got, 2.5*math.Hypot(e1, e2), "%s as %s", name, peer)
		}
	}
}
