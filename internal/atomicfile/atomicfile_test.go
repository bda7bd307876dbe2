package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func names(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWriteAndReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	require.NoError(t, Check(path))
	require.Empty(t, names(t, dir), "Check left something behind")
	require.NoError(t, Write(path, text("one")))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, Write(path, text("two")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "two", string(got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Equal(t, []string{"a.json"}, names(t, dir))
}

func TestErrorKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	require.NoError(t, Write(path, text("old")))
	boom := errors.New("boom")
	err := Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		require.NoError(t, err)
		return boom
	})
	require.ErrorIs(t, err, boom)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	require.Equal(t, []string{"a.json"}, names(t, dir))
}

func TestLinksAndDevices(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, Write(path, text("old")))
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.NoError(t, Write(link, text("new")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))

	if _, err := os.Stat(os.DevNull); err != nil {
		return
	}
	require.NoError(t, Check(os.DevNull))
	require.NoError(t, Write(os.DevNull, text("gone")))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular())
}

func TestBadPaths(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", "a.json")
	for _, check := range []func(string) error{Check, func(p string) error { return Write(p, text("x")) }} {
		require.ErrorContains(t, check(dir), "is a directory")
		require.EqualError(t, check(missing), missing+": cannot be written: there is no directory "+filepath.Dir(missing))
	}
	require.Empty(t, names(t, dir))
}
