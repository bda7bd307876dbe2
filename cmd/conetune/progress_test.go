package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/tune"
)

// A search that takes 2 seconds for a point has 2 seconds left for each point that is left.
func TestTimeLeftOfASearch(t *testing.T) {
	start := time.Now()
	after := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	r := &rest{}
	at := func(k int) tune.Place {
		return tune.Place{Method: "grid", Place: dca.Place{Stage: tune.StageSearch, Point: k, Points: 100}}
	}
	r.begin(at(0), after(0))
	require.Empty(t, r.text(after(1)), "nothing is done yet")
	for k := 1; k <= 40; k++ {
		r.begin(at(k), after(2*float64(k)))
	}
	require.Equal(t, "about 2m0s left", r.text(after(80)))
	require.Equal(t, "about 1m59s left", r.text(after(81)), "it counts down between points")
	r.limit = 100 * time.Second
	require.Equal(t, "at most 20s left", r.text(after(80)))
	require.Equal(t, "less than 1s left", r.text(after(99.5)))

	// The next method has its own clock.
	r.begin(tune.Place{Method: "hoag", Place: dca.Place{Stage: tune.StageDescent}}, after(100))
	require.Equal(t, "at most 1m30s left", r.text(after(110)))
	r.limit = 0
	require.Empty(t, r.text(after(110)))
}

// The log of a run has its stages in their order; without -v nothing is written where nobody looks.
func TestStagesInTheLog(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(1, 90, 6))
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitDone, run(context.Background(), []string{"tune", "elastic-net", "--data", data, "-v", "--max-iter", "100"}, &stdout, &stderr))
	text := stderr.String()
	for _, stage := range []string{
		"reading ", "building the model", `at="start: point 1 of `, `at="start: lower level"`,
		`at="iteration 1: subproblem"`, `at="iteration 1: lower level"`, `at="final fit"`,
	} {
		_, rest, found := strings.Cut(text, stage)
		require.True(t, found, stage)
		text = rest
	}
	stderr.Reset()
	require.Equal(t, exitDone, run(context.Background(), []string{"tune", "elastic-net", "--data", data, "--method", "grid"}, &stdout, &stderr))
	require.Empty(t, stderr.String())
}
