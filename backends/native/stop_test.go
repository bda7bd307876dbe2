package native

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// formOf returns the form of a problem without bounds of time and memory.
func formOf(t *testing.T, p *backends.Problem) *form {
	t.Helper()
	return must.Of(newForm(p, nil, 0))(t)
}

// stopCases are small problems with all kinds of blocks in the Newton systems.
func stopCases() (out []backendtest.Case) {
	large := backendtest.Shape{Name: "psd, linear, large", N: 30, Cones: []backends.Cone{backends.PSD(exactOrder + 2),
		backends.Nonnegative(3)}, Density: 0.3}
	for _, shape := range append(backendtest.Shapes(), large) {
		c := shape.NewCase(1)
		if _, err := (Backend{}).Setup(c.Problem, backends.Options{}); err == nil {
			out = append(out, c)
		}
	}
	for _, c := range backendtest.Cases() {
		if strings.HasPrefix(c.Name, "psd") && c.Status == backends.Optimal {
			out = append(out, c)
		}
	}
	return out
}

// TestStopAnywhere ends a Solve at looks all over, of which there is one wherever the code
// allows, from the first pass over the data to the last step. There is no further look, and
// the next Solve of the same solver is that of a fresh one, to the last bit.
func TestStopAnywhere(t *testing.T) {
	for _, c := range stopCases() {
		t.Run(c.Name, func(t *testing.T) {
			fresh := must.Of(Backend{}.Setup(c.Problem, backends.Options{}))(t)
			want := backendtest.Answer(t, fresh)
			var kept *solver // one that was stopped again and again
			for at := 0; ; at += 1 + at/12 {
				new := must.Of(Backend{}.Setup(c.Problem, backends.Options{}))(t)
				solvers := []*solver{new.(*solver), kept}
				if kept == nil {
					solvers = solvers[:1]
					kept = new.(*solver)
				}
				done := false
				for i, s := range solvers {
					name := fmt.Sprintf("look %d, solver %d", at, i)
					s.stop = *stop.Every(1)
					ctx := stoptest.After(at)
					if at%2 == 1 {
						ctx.Cause = context.DeadlineExceeded
					}
					sol, err := s.Solve(ctx)
					require.NoError(t, err, name)
					if ctx.Looks() <= at {
						done = true
					} else {
						require.Equal(t, at+1, ctx.Looks(), name)
						if sol.Status == backends.Optimal { // the last look of all, after the end
							s.resume = false
							continue
						}
						if at%2 == 1 {
							require.Equal(t, backends.TimeLimit, sol.Status, name)
						} else {
							require.Equal(t, backends.Cancelled, sol.Status, name)
						}
						if sol.X != nil {
							r, _, _ := backends.Recheck(c.Problem, sol.X, sol.S, sol.Z)
							require.False(t, r.Max() != r.Max(), name)
						}
						s.stop = *stop.Every(stop.Interval)
						sol, err = s.Solve(context.Background())
						require.NoError(t, err, name)
						s.resume = false
					}
					require.Equal(t, want.Status, sol.Status, name)
					require.Equal(t, want.Iterations, sol.Iterations, name)
					require.Equal(t, want.X, sol.X, name)
					require.Equal(t, want.S, sol.S, name)
					require.Equal(t, want.Z, sol.Z, name)
				}
				if done {
					assert.Greater(t, at, 20)
					return
				}
			}
		})
	}
}
