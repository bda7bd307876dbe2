package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWriteDirErrors(t *testing.T) {
	s := &Split{Train: table(2, "a"), Val: table(2, "a")}
	dir := t.TempDir()
	put(t, dir, "precious.txt", "keep me")
	require.EqualError(t, WriteDir(s, dir), dir+": is not empty (precious.txt), expected a new or an empty directory")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	file := filepath.Join(dir, "precious.txt")
	require.ErrorContains(t, WriteDir(s, file), file+": is not a directory that can be written to")

	fresh := filepath.Join(dir, "fresh")
	bad := &Split{Train: table(2, "a b "), Val: table(2, "a b ")}
	require.ErrorContains(t, WriteDir(bad, fresh), "a blank at its start or end")
	require.NoDirExists(t, fresh)
	require.ErrorContains(t, WriteDir(&Split{Train: table(2, "a"), Val: table(2, "b")}, fresh), "does not fit")

	named := &Split{Train: table(2, "a", "y"), Val: table(2, "a", "y")}
	named.Train.Target, named.Val.Target = "z", "z"
	require.ErrorContains(t, WriteDir(named, fresh), `the feature "y" would be read back as the target instead of "z"`)
	require.NoDirExists(t, fresh)
}
