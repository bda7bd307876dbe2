package worklist

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
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
	Schema: 1,
	Items:  func(p []int) []int { return p },
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
	s := must.Of(squares.open(dir, false))(t)
	_, err := squares.open(dir, true)
	if err == nil {
		t.Skip("no file locks here")
	}
	require.ErrorContains(t, err, "another process is writing to it")
	ended, first := make(chan error), s.file.Close
	go func() { // as a process that was killed has the file until the system has taken it down
		time.Sleep(100 * time.Millisecond)
		ended <- first()
	}()
	s, err = squares.open(dir, true)
	require.NoError(t, <-ended)
	require.NoError(t, err)
	require.NoError(t, s.file.Close())
}

// Records come in the order of the plan; what failed is done again where that is asked for, and its new record counts.
func TestAgain(t *testing.T) {
	w, o := options(t.TempDir(), 5, 3, 4, 1)
	w.Do = func(ctx context.Context, i int) (*result, error) {
		r, err := square(ctx, i)
		r.Failed = i == 3
		return r, err
	}
	out := must.Of(Run(context.Background(), squares, w, o))(t)
	require.Zero(t, out.Missing)
	require.Equal(t, []int{25, 9, 16, 1}, squaresOf(out.Records))
	require.True(t, out.Records[1].Failed)

	var done []int
	w.Do = func(ctx context.Context, i int) (*result, error) {
		done = append(done, i)
		return square(ctx, i)
	}
	_, err := Run(context.Background(), squares, w, o)
	require.ErrorIs(t, err, ErrExists)
	o.Resume = true
	must.Of(Run(context.Background(), squares, w, o))(t)
	require.Empty(t, done)
	w.Again = func(r *result) bool { return r.Failed }
	for range 2 {
		out = must.Of(Run(context.Background(), squares, w, o))(t)
		require.Equal(t, []int{3}, done)
		require.False(t, out.Records[1].Failed)
	}
	all := must.Of(squares.Read(o.Dir))(t)
	require.Len(t, all, 5)
	slices.Reverse(all) // as a merge may find them
	have := must.Of(squares.byItem(all))(t)
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
	done := must.Of(squares.Read(o.Dir))(t)
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
	out := must.Of(Run(ctx, squares, w, o))(t)
	require.Equal(t, []int{1, 4}, squaresOf(out.Records))
	require.Equal(t, 2, out.Missing)
}

// Parts of a list without groups are every n-th item, and together they are all.
func TestMergeParts(t *testing.T) {
	var parts []string
	for i := 1; i <= 3; i++ {
		w, o := options(t.TempDir(), 1, 2, 3, 4, 5)
		o.Shard = Shard{i, 3}
		out := must.Of(Run(context.Background(), squares, w, o))(t)
		require.Equal(t, 5, out.Missing+len(out.Records))
		parts = append(parts, o.Dir)
	}
	out := must.Of(Merge(squares, parts, t.TempDir()))(t)
	require.Equal(t, []int{1, 4, 9, 16, 25}, squaresOf(out.Records))
	_, err := Merge(squares, parts, parts[0])
	require.ErrorContains(t, err, "choose another folder")
	_, err = Merge(squares, nil, t.TempDir())
	require.ErrorContains(t, err, "no folders")
	_, err = Merge(squares, []string{t.TempDir()}, t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)

	// A part is missing and one there twice, or an item came out in two ways.
	some := must.Of(Merge(squares, []string{parts[0], parts[2], parts[0]}, t.TempDir()))(t)
	require.Equal(t, 2, some.Missing)
	odd := t.TempDir()
	some.Records[0].Square = 7
	require.NoError(t, squares.Write(odd, some))
	_, err = Merge(squares, []string{parts[0], odd}, t.TempDir())
	require.ErrorContains(t, err, "is there twice, with different results")
}

// What is left takes as long as what is done, with two workers half of it.
func TestEstimate(t *testing.T) {
	p := Progress{All: 6, Workers: 2}
	require.Zero(t, p.Left())
	p.add(10)
	require.Equal(t, 25*time.Second, p.Left())
	p.add(2)
	require.Equal(t, 12*time.Second, p.Left())
	for range 4 {
		p.add(1)
	}
	require.Zero(t, p.Left())
}

func TestParseShard(t *testing.T) {
	s := must.Of(ParseShard("2/4"))(t)
	require.Equal(t, Shard{2, 4}, s)
	s = must.Of(ParseShard(""))(t)
	require.Equal(t, Shard{1, 1}, s)
	for _, bad := range []string{"0/4", "5/4", "2", "a/b", "2/4x", "2/4 ", "-1/2", "1/0", "+1/2", "01/2"} {
		_, err := ParseShard(bad)
		require.ErrorContains(t, err, "expected I/N", bad)
	}
}

// done is a folder with the squares of four numbers, and the options to go on with it.
func done(t *testing.T) (w Work[int, result], o Options[[]int], lines []string) {
	t.Helper()
	w, o = options(t.TempDir(), 1, 2, 3, 4)
	o.Machine = "first"
	must.Of(Run(context.Background(), squares, w, o))(t)
	text := must.Of(os.ReadFile(filepath.Join(o.Dir, ResultsFile)))(t)
	o.Resume, o.Machine = true, "second"
	return w, o, strings.SplitAfter(string(text), "\n")
}

// A manifest that is none is an error that says what to do.
func TestDamagedManifest(t *testing.T) {
	w, o, _ := done(t)
	for _, text := range []string{"", "{]"} {
		require.NoError(t, os.WriteFile(filepath.Join(o.Dir, ManifestFile), []byte(text), 0o666))
		_, err := Run(context.Background(), squares, w, o)
		require.ErrorContains(t, err, "manifest.json: not a manifest of results")
		require.ErrorContains(t, err, "delete it, and --resume writes it anew")
		var damage *DamageError
		require.ErrorAs(t, err, &damage)
	}
}

// A line that was changed after it was written, is no record, or is of another version is an error with its number; one
// of an earlier version has no checksum; what a kill has cut off at the end is done again, and what it has left of
// files that were being written goes.
func TestDamage(t *testing.T) {
	w, o, lines := done(t)
	bare, sum, _ := strings.Cut(strings.TrimSuffix(lines[2], "\"}\n"), `,"checksum":"sha256:`)
	require.Equal(t, sum, fmt.Sprintf("%x", sha256.Sum256([]byte(bare+"}"))))
	run := func(text string) error {
		require.NoError(t, os.WriteFile(filepath.Join(o.Dir, ResultsFile), []byte(text), 0o666))
		out, err := Run(context.Background(), squares, w, o)
		require.True(t, err != nil || len(out.Records) == 4)
		return err
	}
	third := func(line string) error { return run(lines[0] + lines[1] + line + lines[3]) }
	const changed = "results.jsonl, line 3: the checksum does not match, the line was changed or damaged: delete the " +
		"line, and --resume does its work again"
	for line, want := range map[string]string{
		strings.Replace(lines[2], `"schema":1`, `"schema":1,"square":7`, 1): changed,
		strings.Replace(lines[2], "sha256:", "sha256:0", 1):                 changed,
		strings.Replace(lines[2], "}\n", " }\n", 1):                         changed,
		"{\"schema\":1,\n":  "results.jsonl, line 3: not a record of results",
		"{\"schema\":99}\n": "results.jsonl, line 3: schema 99, expected 1",
	} {
		require.ErrorContains(t, third(line), want)
	}
	require.NoError(t, third(bare+"}\n"))
	require.NoError(t, third("")) // as the message says
	leftover := filepath.Join(o.Dir, ".manifest.json.0123abcd.tmp")
	require.NoError(t, os.WriteFile(leftover, nil, 0o666))
	for _, cut := range []int{1, 30, len(lines[3]) - 1} {
		require.NoError(t, run(strings.Join(lines, "")[:len(strings.Join(lines, ""))-cut]))
	}
	require.NoFileExists(t, leftover)
}

// A number that is not finite is no reason to lose a record.
func TestNull(t *testing.T) {
	line := must.Of(squares.Encode(&result{Schema: 1, Number: 3, Seconds: math.NaN()}))(t)
	require.Contains(t, string(line), `"seconds":null`)
	records := must.Of(squares.Decode("results.jsonl", line))(t)
	require.Equal(t, 3, records[0].Number)
}
