package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/tune"
)

// The lines are coefficients times the deviations of their features, 1, 2 and 3 here, the largest at the end first, or
// the norms of their groups.
func TestPathPanel(t *testing.T) {
	split := &dataset.Split{Train: &dataset.Data{
		X: mat.NewDense(2, 3, []float64{1, 2, 3, -1, -2, -3}), Y: []float64{1, 2}, Features: []string{"a", "b", "c"}, Target: "y",
	}}
	event := func(c ...float64) tune.Event {
		return tune.Event{Fit: &tune.Fit{Coefficients: c, Features: split.Train.Features}}
	}
	r := &tune.Result{Method: tune.MethodGrid, Trace: []tune.Event{event(5, 1, -1), {}, event(0, 2, -3)}}
	job := &tuneJob{methods: []string{r.Method}}
	last := func() []figure.Line {
		panels := traceOfRun(job, split, []*tune.Result{r}).Panels
		return panels[len(panels)-1].Lines
	}
	require.Equal(t, []figure.Line{
		{Name: "c", X: []float64{1, 3}, Y: []float64{-3, -9}, Style: 0},
		{Name: "b", X: []float64{1, 3}, Y: []float64{2, 4}, Style: 1},
		{Name: "a", X: []float64{1, 3}, Y: []float64{5, 0}, Style: 2},
	}, last())
	job.groupsOfModel = &groups.Groups{Names: []string{"first", "second"}, Members: [][]int{{0}, {1, 2}}}
	lines := last()
	require.InDeltaSlice(t, []float64{math.Sqrt(13), math.Sqrt(97)}, lines[0].Y, 1e-14)
	require.Equal(t, []string{"second", "first"}, []string{lines[0].Name, lines[1].Name})
	r.Trace = nil
	require.Len(t, traceOfRun(job, split, []*tune.Result{r}).Panels, 2, "no coefficients")
}

// timed is a table whose targets, in the first column, are times, which are censored where they were negative.
func timed(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines[0] += ",event"
	for i, line := range lines[1:] {
		if rest, negative := strings.CutPrefix(line, "-"); negative {
			lines[i+1] = rest + ",0"
		} else {
			lines[i+1] = line + ",1"
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// Every model draws its coefficients or the norms of its groups; a classifier has ROC and confusion on the rows there are.
func TestPlotOfEveryModel(t *testing.T) {
	if testing.Short() {
		t.Skip("the report of every model is as much")
	}
	dir := t.TempDir()
	data, labels := write(t, dir, "table.csv", csvText(1, 45, 6)), write(t, dir, "labels.csv", labelled(1, 45, 6))
	times := write(t, dir, "times.csv", timed(csvText(1, 45, 6)))
	for _, spec := range model.Specs() {
		if spec.Matrix {
			continue // matrix_test.go
		}
		t.Run(spec.Name, func(t *testing.T) {
			path, statistics := filepath.Join(dir, spec.Name+".svg"), filepath.Join(dir, spec.Name+"-statistics.svg")
			args := []string{"tune", spec.Name, "--data", data, "--gap-tol", "0", "--tol", "0.1", "--plot-trace", path, "--plot", statistics}
			want := []string{">coefficients x s.d., refit<", ">f1<"}
			if spec.Takes("Groups") {
				args, want = append(args, "--groups", "3"), []string{">norms of groups, refit<", ">group0<"}
			}
			if spec.Several {
				args, want = append(args, "--target", "y,f2"), []string{">norms over targets, refit<", ">f1<"}
			}
			if spec.Survival {
				args[3] = times
			}
			if spec.Labels {
				args[3] = labels
				args = append(args, "--split", "0.8/rest")
				if spec.Classes {
					want[0] = ">norms over labels, refit<"
				}
			}
			conetune(t, args...).ok(t)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, words := range want {
				require.Contains(t, string(text), words)
			}
			// --plot has the error over the weights, where there is such a curve, and the predictions that fit the model.
			want = []string{">chosen<", "mean ± s.e.", "error over lambda, with bars of one standard error"}
			if spec.Folds || spec.Several {
				want = []string{"validation, chosen"}
			}
			if spec.Labels {
				if want = append(want, "confusion, "); !spec.Classes {
					want = append(want, "ROC, ")
				}
			} else if spec.Survival {
				want = append(want, "without an event, by thirds of the hazard")
			} else if !spec.Several {
				want = append(want, ">targets, by cross-validation<", ">residuals<", ">prediction<")
			}
			text, err = os.ReadFile(statistics)
			require.NoError(t, err)
			for _, words := range want {
				require.Contains(t, string(text), words)
			}
			require.NotContains(t, string(text), "penalty alpha")
		})
	}
}

// Of two features, effects are coefficients times standard deviations, the larger one at the choice first, and a feature that is nowhere in use is left out.
func TestPathsOf(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{1, 10, 1, -1, -10, 0, 1, -10, 1, -1, 10, 0}) // standard deviations 1, 10 and 1/2
	split := &dataset.Split{Train: &dataset.Data{X: x, Y: make([]float64, 4), Features: []string{"a", "b", "c"}}}
	fit := func(b ...float64) tune.Fit { return tune.Fit{Coefficients: b, Features: split.Train.Features} }
	r := &tune.Result{Model: "lasso", Refit: &tune.Errors{}, RefitFit: fit(1, -0.3, 0)}
	r.Lambda = []float64{0.5}
	for k, f := range []tune.Fit{fit(0, 0, 0), fit(1, -0.3, 0), {}, fit(4, -0.35, 0)} {
		r.Curve = append(r.Curve, tune.CurvePoint{Factor: math.Pow(10, float64(1-k)), Validation: 1, Fit: f})
	}
	p, c := pathsOf(split, r)
	require.Equal(t, []string{"b", "a"}, p.name)
	require.InDeltaSlice(t, []float64{5, 0.5, 0.005}, p.x, 1e-12)
	require.InDeltaSlice(t, []float64{0, -3, -3.5}, p.effect[0], 1e-12)
	require.InDeltaSlice(t, []float64{0, 1, 4}, p.effect[1], 1e-12)
	lines := p.around(c).Lines
	require.Len(t, lines, 3)
	require.Equal(t, []float64{0.5, 0.5}, lines[2].X)
	require.Equal(t, []float64{-3.5, 4}, lines[2].Y)
	drawn, err := pathDrawing(split, r).onPage()
	require.NoError(t, err)
	require.Contains(t, string(drawn.SVG), "In use: 0 features at 5, 2 features at 0.005.")
	r.Curve = r.Curve[:1]
	require.Nil(t, pathDrawing(split, r))
	require.Equal(t, strings.Repeat("x", 18)+"..", shortened(strings.Repeat("x", 30)))
}

// Rows of weight 2 count twice in the ROC curve: (0,0), (0,1/2), (1/3,1/2), (1/3,1), (1,1).
func TestWeightedROC(t *testing.T) {
	x, y, area := roc([]float64{4, 3, 2, 1}, []float64{1, 0, 1, 0}, []float64{2, 1, 2, 2})
	require.InDeltaSlice(t, []float64{0, 0, 1. / 3, 1. / 3, 1}, x, 1e-15)
	require.InDeltaSlice(t, []float64{0, 0.5, 0.5, 1, 1}, y, 1e-15)
	require.InDelta(t, 1./6+2./3, area, 1e-15)
}
