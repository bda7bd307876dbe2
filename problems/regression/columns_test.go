package regression

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// large is a table of normal numbers.
func large(rng *rand.Rand, n, p int) *dataset.Data {
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Features: make([]string, p), Target: "y"}
	for j := range p {
		d.Features[j] = fmt.Sprint("x", j)
	}
	for i := range n {
		d.Y[i] = 3 + rng.NormFloat64()
		row := d.X.(*mat.Dense).RawRowView(i)
		for j := range row {
			row[j] = 1 + rng.NormFloat64()
		}
	}
	return d
}

// A large table is kept by columns, of which fits make no copy, and has the errors and gradients that its rows say.
func TestLargeTableByColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := &dataset.Split{Train: large(rng, 60, 20_000), Val: large(rng, 11, 20_000)}
	d := must.Of(newData(s, Options{Intercept: true, Standardize: true}, Net{}))(t)
	train, val := d.parts[0].train, d.parts[0].val
	for _, rows := range []*dataset.Data{train, val} {
		require.Implements(t, (*design.Columnwise)(nil), rows.X)
	}
	plain := &data{
		options: d.options, loss: d.loss, outputs: 1, user: d.user, transform: d.transform, shift: d.shift, sd: d.sd,
	}
	plain.top = plain.largestGradient
	part := s.Parts()[0]
	fit := dataset.Data{X: d.transform.Apply(part.Train).X, Y: train.Y, Features: train.Features}
	choose := dataset.Data{X: d.transform.Apply(part.Val).X, Y: val.Y, Features: val.Features}
	plain.parts = append(plain.parts, plain.newPart(&fit, &choose, part.Val))

	x := [][]float64{make([]float64, 20_000), {0.1}}
	for j := 0; j < len(x[0]); j += 3 {
		x[0][j] = rng.NormFloat64() / 100
	}
	require.InDelta(t, plain.Evaluate(x).Validation, d.Evaluate(x).Validation, 1e-10)
	require.InDelta(t, plain.LambdaMax(), d.LambdaMax(), 1e-12)
	want, got := trainGradient(plain, x), trainGradient(d, x)
	require.InDeltaSlice(t, want[0], got[0], 1e-12)
	require.InDelta(t, want[1][0], got[1][0], 1e-12)
	all := must.Of(d.All(context.Background()))(t)
	rows := all.parts[0].train
	require.Implements(t, (*design.Columnwise)(nil), rows.X)
	require.True(t, mat.Equal(dataset.Stack(&fit, &choose).X, rows.X))
	soon, end := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
	defer end()
	_, err := d.All(soon)
	require.ErrorIs(t, err, context.DeadlineExceeded, "no time to make rows ready")
}

// Tables of many rows whose losses are squares stay rows, of which fits make few.
func TestTallTableByRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s := &dataset.Split{Train: large(rng, 120_000, 10), Val: large(rng, 10, 10)}
	d := must.Of(newData(s, Options{Standardize: true}, Net{}))(t)
	require.Implements(t, (*mat.RawRowViewer)(nil), d.parts[0].train.X)
}

// Values in gaps are those of the fold, for the loss as for the error.
func TestGapsOfFolds(t *testing.T) {
	rows := &dataset.Data{X: mat.NewDense(4, 1, []float64{1, 9, 2, 9}), Y: []float64{1, 2, 3, 4}, Features: []string{"a"},
		Target: "y"}
	folds := []split.Fold{{Train: []int{0, 2}, Val: []int{1, 3}}, {Train: []int{1, 3}, Val: []int{0, 2}}}
	cv := &dataset.CrossValidation{Data: rows, Folds: folds, Gaps: &dataset.Gaps{Row: []int{1, 3}, Feature: []int{0, 0},
		Values: [][]float64{{1.5, 1.5}, {5, 5}}}}
	d := must.Of(newData(cv, Options{}, Net{}))(t)
	// b = 1 in the first fold: residuals 1.5 - 2 and 1.5 - 4; b = 2 in the second: 2 - 1 and 4 - 3. Halves of the mean
	// squares.
	require.InDelta(t, ((0.25+6.25)/4+(1.0+1.0)/4)/2, d.Evaluate([][]float64{{1}, {2}}).Validation, 1e-15)
	// 1/n a'(ab - y), halved by the two folds: at b = 0 in the second, -(5 2 + 5 4)/2/2.
	require.InDelta(t, -30.0/4, trainGradient(d, [][]float64{{1}, {0}})[1][0], 1e-15)
}
