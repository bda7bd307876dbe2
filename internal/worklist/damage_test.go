package worklist

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// done is a folder with the squares of four numbers, and the options to go on with it.
func done(t *testing.T) (w Work[int, result], o Options[[]int], lines []string) {
	t.Helper()
	w, o = options(t.TempDir(), 1, 2, 3, 4)
	o.Machine = "first"
	_, err := Run(context.Background(), squares, w, o)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(o.Dir, ResultsFile))
	require.NoError(t, err)
	o.Resume, o.Machine = true, "second"
	return w, o, strings.SplitAfter(string(text), "\n")
}

// A manifest that a crash of the machine has emptied or cut off is written anew, and nothing is done twice.
func TestCutManifest(t *testing.T) {
	w, o, _ := done(t)
	w.Do = nil
	path := filepath.Join(o.Dir, ManifestFile)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, cut := range []string{"", "\n", strings.Repeat("\x00", 512), string(whole[:len(whole)/2]), "{"} {
		require.NoError(t, os.WriteFile(path, []byte(cut), 0o666))
		_, err := Merge(squares, []string{o.Dir}, t.TempDir())
		require.ErrorContains(t, err, "manifest.json: it is empty or cut off; squares --resume writes it anew")
		out, err := Run(context.Background(), squares, w, o)
		require.NoError(t, err)
		require.Len(t, out.Records, 4)
		require.Len(t, out.Notes, 1)
		require.Contains(t, out.Notes[0], "manifest.json was empty or cut off and is written anew")
		m, err := squares.ReadManifest(o.Dir)
		require.NoError(t, err)
		require.Equal(t, []string{"second"}, m.Machines)
		require.Equal(t, o.Plan, m.Plan)
	}
	require.NoError(t, os.WriteFile(path, []byte("{]"), 0o666))
	_, err = Run(context.Background(), squares, w, o)
	require.ErrorContains(t, err, "manifest.json: not a manifest of results")
	var damage *DamageError
	require.ErrorAs(t, err, &damage)
}

// A line that was changed after it was written, is no record, or is of another version is an error with its number; one
// of an earlier version has no checksum; what a kill has cut off at the end is done again, and what it has left of files
// that were being written goes.
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
	const changed = "results.jsonl, line 3: the checksum does not match, the line was changed or damaged: delete the line, and --resume does its work again"
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
	line, err := squares.Encode(&result{Schema: 1, Number: 3, Seconds: math.NaN()})
	require.NoError(t, err)
	require.Contains(t, string(line), `"seconds":null`)
	records, err := squares.Decode("results.jsonl", line)
	require.NoError(t, err)
	require.Equal(t, 3, records[0].Number)
}
