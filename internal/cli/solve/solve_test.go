package solve

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/cli"
)

func TestDescribeCones(t *testing.T) {
	text := describeCones([]backends.Cone{backends.Zero(2), backends.SecondOrder(3), backends.SecondOrder(4),
		backends.PSD(2)})
	require.Equal(t, "2 zero, 2 second-order (7 rows), 1 psd (3 rows)", text)
	require.Equal(t, "none", describeCones(nil))
	for s := backends.Optimal; s <= backends.NumericalError; s++ {
		require.NotEmpty(t, solveStatus(s), fmt.Sprint(s))
	}
}

// endless is a backend, and a solver, that goes on until the test is over and does not watch anything: whoever waits
// for it waits for ever.
type endless struct {
	backends.ConicBackend
	backends.Solver
	over chan struct{}
}

func newEndless(t *testing.T) endless {
	e := endless{over: make(chan struct{})}
	t.Cleanup(func() { close(e.over) })
	return e
}

func (e endless) Solve(context.Context) (*backends.Solution, error) {
	<-e.over
	return nil, nil
}

func (e endless) Setup(*backends.Problem, backends.Options) (backends.Solver, error) {
	<-e.over
	return nil, nil
}

// TestSolveUnsupported asks a backend for a cone that it lacks.
func TestSolveUnsupported(t *testing.T) {
	err := solverError(&loadedProgram{path: "f.cbf"}, &backends.UnsupportedError{Backend: "b", Feature: "the psd cone",
		Others: []string{"c"}})
	require.ErrorContains(t, err, "f.cbf: backends: b does not support the psd cone; these do: c")
	require.Equal(t, cli.ExitUsage, err.(*cli.ExitError).Code)
	err = solverError(&loadedProgram{path: "f.cbf"}, &backends.UnsupportedError{Backend: "b", Feature: "the psd cone"})
	require.ErrorContains(t, err, "conetune backends says how to get others")
	require.Equal(t, cli.ExitUsage, err.(*cli.ExitError).Code)
}

func TestMissingBackend(t *testing.T) {
	lacking := backendTable([]backendInfo{{Name: "other", HowToGet: "build with -tags other"}})
	require.Contains(t, lacking, "other is not in this build; to get it: build with -tags other\n")
}

// A solver that does not come back is left to itself when the context ends.
func TestAbandoned(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	never := newEndless(t)
	_, err := solveUntil(over, never, patience)
	require.ErrorIs(t, err, cli.ErrInterrupted)
	for name, slow := range map[string]*loadedProgram{
		"building": {build: func() (*formats.Program, error) { <-never.over; return nil, nil }},
		"set-up":   {build: func() (*formats.Program, error) { return &formats.Program{}, nil }},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		_, _, err := solveBuilt(&cli.App{}, ctx, slow, never, backends.Options{}, &solveFlags{})
		require.ErrorIs(t, err, cli.ErrInterrupted, name)
		cancel()
	}
}
