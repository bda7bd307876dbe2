package paper

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/worklist"
)

// A manifest that a crash of the machine has emptied or cut off is written anew, and nothing is done twice.
func TestCutManifest(t *testing.T) {
	o := small(t, tabular(t), 1)
	o.Machine = "first"
	do(t, o)
	path := filepath.Join(o.Dir, worklist.ManifestFile)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	tables := errorTables(t, o.Dir)
	o.Resume = true
	for _, cut := range []string{"", "\n", strings.Repeat("\x00", 512), string(whole[:len(whole)/2]), "{"} {
		require.NoError(t, os.WriteFile(path, []byte(cut), 0o666))
		_, err := Merge([]string{o.Dir}, filepath.Join(t.TempDir(), "all"))
		require.ErrorContains(t, err, "manifest.json: it is empty or cut off; conetune bench paper --resume writes it anew")
		o.Machine = "second"
		out := do(t, o)
		require.Len(t, out.Records, 8)
		require.Len(t, out.Notes, 1)
		require.Contains(t, out.Notes[0], "manifest.json was empty or cut off and is written anew")
		m, err := experiments.ReadManifest(o.Dir)
		require.NoError(t, err)
		require.Equal(t, []string{"second"}, m.Machines)
		require.Equal(t, o.Plan.Items(), m.Plan.Items())
		require.Equal(t, tables, errorTables(t, o.Dir))
	}
	require.NoError(t, os.WriteFile(path, []byte("{]"), 0o666))
	_, err = Run(context.Background(), o)
	require.ErrorContains(t, err, "manifest.json: not a manifest of results")
	var damage *worklist.DamageError
	require.ErrorAs(t, err, &damage)
}

// A record that was changed after it was written is an error with its line; one of an earlier version has no checksum.
func TestRecordChecksum(t *testing.T) {
	o := small(t, tabular(t), 1)
	do(t, o)
	path := filepath.Join(o.Dir, worklist.ResultsFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[2]), &fields))
	sum, ok := fields["checksum"].(string)
	require.True(t, ok)
	bare := strings.Replace(lines[2], fmt.Sprintf(`,"checksum":%q`, sum), "", 1)
	require.Equal(t, sum, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.TrimSuffix(bare, "\n")))))

	o.Resume = true
	with := func(line string) error {
		changed := append([]string{}, lines...)
		changed[2] = line
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(changed, "")), 0o666))
		_, err := Run(context.Background(), o)
		return err
	}
	for _, changed := range []string{
		strings.Replace(lines[2], `"seed":1`, `"seed":7`, 1),
		strings.Replace(lines[2], `"status":"converged"`, `"status":"time_limit"`, 1),
		strings.Replace(lines[2], "sha256:", "sha256:0", 1),
		strings.Replace(lines[2], "}\n", " }\n", 1),
	} {
		require.NotEqual(t, lines[2], changed)
		require.ErrorContains(t, with(changed), "results.jsonl, line 3: the checksum does not match, the line was changed or damaged: delete the line, and --resume does its work again")
	}
	require.NoError(t, with(bare))
	require.NoError(t, with("")) // as the message says
	records, err := experiments.Read(o.Dir)
	require.NoError(t, err)
	require.Len(t, records, 8)
}

// What a kill has left of files that were being written goes with the next start.
func TestLeftovers(t *testing.T) {
	o := small(t, tabular(t), 1)
	do(t, o)
	for _, name := range []string{".manifest.json.0123abcd.tmp", "tables/.errors.md.0123abcd.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(o.Dir, name), nil, 0o666))
	}
	o.Resume = true
	do(t, o)
	requireNoLeftovers(t, o.Dir)
}

func requireNoLeftovers(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		require.NotContains(t, path, ".tmp")
		return err
	}))
}

// A number that is not finite is no reason to lose a record.
func TestRecordNull(t *testing.T) {
	nan := math.NaN()
	r := Record{Schema: Schema, Item: Item{Table: "en", Seed: 3}, Gap: &nan, Trace: []Point{{Alpha: math.Inf(1)}}}
	line, err := experiments.Encode(&r)
	require.NoError(t, err)
	require.Contains(t, string(line), `"gap":null`)
	records, err := experiments.Decode("results.jsonl", line)
	require.NoError(t, err)
	require.Equal(t, r.Item, records[0].Item)
}
