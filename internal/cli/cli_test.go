package cli

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func TestExitStatusOfErrors(t *testing.T) {
	boom := errors.New("boom")
	require.ErrorIs(t, BadInput(boom), boom)
	require.Equal(t, "boom", Failed(boom).Error())
	require.Equal(t, "", (&ExitError{Code: ExitInterrupted}).Error())
}

func TestNames(t *testing.T) {
	names := []string{"", "a, b", `say "x"`, `"q"`, " c", "d\ne", ""}
	require.Equal(t, names, Names(JoinNames(names)))
}

func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	v := must.Of(Interruptible(ctx, func() (int, error) { return 3, nil }))(t)
	require.Equal(t, 3, v)
	cancel()
	block := make(chan struct{})
	defer close(block)
	_, err := Interruptible(ctx, func() (int, error) { <-block; return 0, nil })
	require.ErrorIs(t, err, ErrInterrupted)
	require.PanicsWithValue(t, "bug", func() {
		_, _ = Interruptible(context.Background(), func() (int, error) { panic("bug") })
	})
}

// One number that is not finite is null, and the others are there.
func TestJSONNull(t *testing.T) {
	var b bytes.Buffer
	nan := math.NaN()
	type part struct {
		Values []float64 `json:"values"`
	}
	require.NoError(t, WriteJSON(&b, struct {
		Name  string   `json:"name"`
		Any   any      `json:"any"`
		Error *float64 `json:"error"`
		*part
	}{"a&b", []float64{1, nan, math.Inf(-1)}, &nan, &part{[]float64{nan, 2}}}))
	require.JSONEq(t, `{"name":"a&b","any":[1,null,null],"error":null,"values":[null,2]}`, b.String())
}

func TestSolveProgress(t *testing.T) {
	p := &Status{w: new(bytes.Buffer)}
	p.Logger().Debug("native", "iteration", 3, "objective", 1.25, "mu", 2.0)
	p.End()
	require.Equal(t, "native  iteration 3  objective 1.25", p.text(time.Now()))
	require.Nil(t, (&Status{}).Logger())
}
