package cli

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestExitStatusOfErrors(t *testing.T) {
	boom := errors.New("boom")
	require.ErrorIs(t, BadInput(boom), boom)
	require.Equal(t, "boom", Failed(boom).Error())
	require.Equal(t, "", (&ExitError{Code: ExitInterrupted}).Error())
}

func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	v, err := Interruptible(ctx, func() (int, error) { return 3, nil })
	require.NoError(t, err)
	require.Equal(t, 3, v)
	cancel()
	block := make(chan struct{})
	defer close(block)
	_, err = Interruptible(ctx, func() (int, error) { <-block; return 0, nil })
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
	p := &Status{w: new(bytes.Buffer), columns: func() int { return 40 }}
	p.Logger().Debug("native", "iteration", 3, "objective", 1.25, "mu", 2.0)
	p.End()
	require.Equal(t, "native  iteration 3  objective 1.25", p.text(time.Now()))
	require.Nil(t, (&Status{}).Logger())
}

// The line says what is done, within the columns of the terminal, and leaves nothing behind.
func TestStatusLine(t *testing.T) {
	drawn := make(chan string, 1000)
	s := &Status{w: written(drawn), columns: func() int { return 60 }}
	s.Show(2, 4, func(time.Time) string { return "about 2s left " + strings.Repeat("日本", 20) })
	first := <-drawn
	s.Clear()
	require.Contains(t, first, "\r[============------------] 2 of 4  about 2s left 日本")
	_, wide := cut(first[1:], 1000)
	require.LessOrEqual(t, wide, 59)
	last := ""
	for len(drawn) > 0 {
		last = <-drawn
	}
	require.Equal(t, "\r"+strings.Repeat(" ", wide)+"\r", last)
	require.Equal(t, "reading t.csv  3s", (&Status{text: func(time.Time) string { return "reading t.csv" }}).words(time.Now(), 3*time.Second))
}

// written gets each text that is written.
type written chan string

func (w written) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}
