package worklist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// result is the record of a number: its square, or a failure.
type result struct {
	Schema  int     `json:"schema"`
	Number  int     `json:"number"`
	Square  int     `json:"square"`
	Failed  bool    `json:"failed"`
	Seconds float64 `json:"seconds"`
}

// squares is work on the numbers of a list; even and odd numbers take times of their own.
var squares = &Kind[int, result, []int]{
	Command: "squares", Schema: 1,
	Items: func(p []int) []int { return p },
	Head: func(r *result) Head[int] {
		return Head[int]{Item: r.Number, Schema: r.Schema, Version: "1", Seconds: r.Seconds}
	},
	Same:       func(a, b *result) bool { return a.Square == b.Square && a.Failed == b.Failed },
	Replaces:   func(later, earlier *result) bool { return earlier.Failed && !later.Failed },
	Difference: func(a, b []int) string { return fmt.Sprintf("%v and %v", a, b) },
}

func square(_ context.Context, i int) (*result, error) {
	return &result{Schema: 1, Number: i, Square: i * i, Seconds: 1}, nil
}

func options(dir string, numbers ...int) (Work[int, result], Options[[]int]) {
	return Work[int, result]{Do: square}, Options[[]int]{Dir: dir, Plan: numbers, Workers: 2, Version: "1"}
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	s, err := squares.open(dir, false)
	require.NoError(t, err)
	_, err = squares.open(dir, true)
	if err == nil {
		t.Skip("no file locks here")
	}
	require.ErrorContains(t, err, "another process is writing to it")
	ended, first := make(chan error), s.close
	go func() { // as a process that was killed has the file until the system has taken it down
		time.Sleep(100 * time.Millisecond)
		ended <- first()
	}()
	s, err = squares.open(dir, true)
	require.NoError(t, <-ended)
	require.NoError(t, err)
	require.NoError(t, s.close())
}

// Records come in the order of the plan; what failed is done again where that is asked for, and its new record counts.
func TestAgain(t *testing.T) {
	w, o := options(t.TempDir(), 5, 3, 4, 1)
	w.Do = func(ctx context.Context, i int) (*result, error) {
		r, err := square(ctx, i)
		r.Failed = i == 3
		return r, err
	}
	out, err := Run(context.Background(), squares, w, o)
	require.NoError(t, err)
	require.Zero(t, out.Missing)
	require.Equal(t, []int{25, 9, 16, 1}, squaresOf(out.Records))
	require.True(t, out.Records[1].Failed)

	var done []int
	w.Do = func(ctx context.Context, i int) (*result, error) {
		done = append(done, i)
		return square(ctx, i)
	}
	_, err = Run(context.Background(), squares, w, o)
	require.ErrorIs(t, err, ErrExists)
	o.Resume = true
	_, err = Run(context.Background(), squares, w, o)
	require.NoError(t, err)
	require.Empty(t, done)
	w.Again = func(r *result) bool { return r.Failed }
	for range 2 {
		out, err = Run(context.Background(), squares, w, o)
		require.NoError(t, err)
		require.Equal(t, []int{3}, done)
		require.False(t, out.Records[1].Failed)
	}
	all, err := squares.Read(o.Dir)
	require.NoError(t, err)
	require.Len(t, all, 5)
	slices.Reverse(all) // as a merge may find them
	have, err := squares.byItem(all)
	require.NoError(t, err)
	require.False(t, have[3].Failed)
}

func squaresOf(records []result) (list []int) {
	for _, r := range records {
		list = append(list, r.Square)
	}
	return list
}

// An error of an item that is not about that item alone ends the work; what is done stays.
func TestRunError(t *testing.T) {
	boom := errors.New("boom")
	w, o := options(t.TempDir(), 1, 2, 3, 4)
	o.Workers = 1
	w.Do = func(ctx context.Context, i int) (*result, error) {
		if i == 3 {
			return nil, boom
		}
		return square(ctx, i)
	}
	_, err := Run(context.Background(), squares, w, o)
	require.ErrorIs(t, err, boom)
	done, err := squares.Read(o.Dir)
	require.NoError(t, err)
	require.Equal(t, []int{1, 4}, squaresOf(done))
	o.Resume, w.Do = true, square
	w.Check = func(have map[int]*result) error {
		if len(have) == 2 {
			return boom
		}
		return nil
	}
	_, err = Run(context.Background(), squares, w, o)
	require.ErrorIs(t, err, boom)

	// The end of the context is no error.
	w, o = options(t.TempDir(), 1, 2, 3, 4)
	ctx, cancel := context.WithCancel(context.Background())
	o.Workers, o.Observe = 1, func(p Progress) {
		if p.Done == 2 {
			cancel()
		}
	}
	out, err := Run(ctx, squares, w, o)
	require.NoError(t, err)
	require.Equal(t, []int{1, 4}, squaresOf(out.Records))
	require.Equal(t, 2, out.Missing)
}

// Parts of a list without groups are every n-th item, and together they are all.
func TestMergeParts(t *testing.T) {
	var parts []string
	for i := 1; i <= 3; i++ {
		w, o := options(t.TempDir(), 1, 2, 3, 4, 5)
		o.Shard = Shard{i, 3}
		out, err := Run(context.Background(), squares, w, o)
		require.NoError(t, err)
		require.Equal(t, 5, out.Missing+len(out.Records))
		parts = append(parts, o.Dir)
	}
	out, err := Merge(squares, parts, t.TempDir())
	require.NoError(t, err)
	require.Equal(t, []int{1, 4, 9, 16, 25}, squaresOf(out.Records))
	_, err = Merge(squares, parts, parts[0])
	require.ErrorContains(t, err, "choose another folder")
	_, err = Merge(squares, nil, t.TempDir())
	require.ErrorContains(t, err, "no folders")
	_, err = Merge(squares, []string{t.TempDir()}, t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)

	// A part is missing and one there twice, or an item came out in two ways.
	some, err := Merge(squares, []string{parts[0], parts[2], parts[0]}, t.TempDir())
	require.NoError(t, err)
	require.Equal(t, 2, some.Missing)
	odd := t.TempDir()
	some.Records[0].Square = 7
	require.NoError(t, squares.Write(odd, some))
	_, err = Merge(squares, []string{parts[0], odd}, t.TempDir())
	require.ErrorContains(t, err, "is there twice, with different results")
}

// What is left takes as long as what is done, with two workers half of it.
func TestEstimate(t *testing.T) {
	e := &estimate{all: 6, workers: 2}
	require.Equal(t, Progress{All: 6}, e.progress())
	e.add(10)
	require.Equal(t, Progress{Done: 1, All: 6, Left: 25 * time.Second}, e.progress())
	e.add(2)
	require.Equal(t, Progress{Done: 2, All: 6, Left: 12 * time.Second}, e.progress())
	for range 4 {
		e.add(1)
	}
	require.Equal(t, Progress{Done: 6, All: 6}, e.progress())
}

func TestParseShard(t *testing.T) {
	s, err := ParseShard("2/4")
	require.NoError(t, err)
	require.Equal(t, Shard{2, 4}, s)
	s, err = ParseShard("")
	require.NoError(t, err)
	require.Equal(t, Shard{1, 1}, s)
	for _, bad := range []string{"0/4", "5/4", "2", "a/b", "2/4x", "2/4 ", "-1/2", "1/0", "+1/2", "01/2"} {
		_, err := ParseShard(bad)
		require.ErrorContains(t, err, "expected I/N", bad)
	}
}
