package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func names(t *testing.T, dir string) []string {
	entries := must.Of(os.ReadDir(dir))(t)
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
	got := must.Of(os.ReadFile(path))(t)
	require.Equal(t, "two", string(got))
	info := must.Of(os.Stat(path))(t)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Equal(t, []string{"a.json"}, names(t, dir))
}

func TestErrorKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	require.NoError(t, Write(path, text("old")))
	boom := errors.New("boom")
	err := Write(path, func(w io.Writer) error {
		must.Of(io.WriteString(w, "half"))(t)
		return boom
	})
	require.ErrorIs(t, err, boom)
	got := must.Of(os.ReadFile(path))(t)
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
	got := must.Of(os.ReadFile(path))(t)
	require.Equal(t, "new", string(got))

	if _, err := os.Stat(os.DevNull); err != nil {
		return
	}
	require.NoError(t, Check(os.DevNull))
	require.NoError(t, Write(os.DevNull, text("gone")))
	info := must.Of(os.Stat(os.DevNull))(t)
	require.False(t, info.Mode().IsRegular())
}

// What cannot be written is said by all, whoever asks: the test may run as an administrator, who could replace a
// read-only file. Nothing changes, and a link that leads nowhere makes no file elsewhere.
func TestBadPaths(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("old"), []byte("old"), 0o444))
	all := []string{"old"}
	if os.Symlink("gone/away", in("link")) == nil { // not where there are none
		all = []string{"link", "old"}
	}
	for _, c := range []struct{ path, want string }{
		{dir, "is a directory, expected the name of a file to write"},
		{in("no/a.json"), "cannot be written: there is no directory " + in("no")},
		{in("old"), "cannot be written: it is read-only"},
		{in("link"), "cannot be written: it is a symbolic link to gone/away, which is not there"},
	} {
		if c.path == in("link") && len(all) == 1 {
			continue
		}
		_, err := Create(c.path)
		for _, err := range []error{Check(c.path), Write(c.path, text("new")), err} {
			require.EqualError(t, err, c.path+": "+c.want)
		}
		require.Equal(t, all, names(t, dir))
	}
	got := must.Of(os.ReadFile(in("old")))(t)
	require.Equal(t, "old", string(got))
}

// leave makes what a killed process leaves behind while it writes the file, and returns its name.
func leave(t *testing.T, path string) string {
	t.Helper()
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".0123abcd.tmp")
	require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
	old := time.Now().Add(-2 * staleAge) // where there are no locks, the age tells
	require.NoError(t, os.Chtimes(name, old, old))
	return name
}

func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	leave(t, a)
	other := filepath.Base(leave(t, b))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".notes.tmp"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json.0123abcd.tmp"), nil, 0o600))
	require.NoError(t, Write(a, text("x")))
	require.ElementsMatch(t, []string{"a.json", other, ".notes.tmp", "a.json.0123abcd.tmp"}, names(t, dir))
	left := filepath.Base(leave(t, a))
	require.NoError(t, Check(a))
	require.NotContains(t, names(t, dir), left)
	leave(t, a)
	Clean(dir)
	require.ElementsMatch(t, []string{"a.json", ".notes.tmp", "a.json.0123abcd.tmp"}, names(t, dir))
}

// What somebody is writing is no leftover.
func TestTwoWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	require.NoError(t, Write(path, func(w io.Writer) error {
		require.Len(t, names(t, dir), 1)
		require.NoError(t, Check(path))
		Clean(dir)
		require.Len(t, names(t, dir), 1)
		require.NoError(t, Write(path, text("inner")))
		return text("outer")(w)
	}))
	got := must.Of(os.ReadFile(path))(t)
	require.Equal(t, "outer", string(got))
	require.Equal(t, []string{"a.json"}, names(t, dir))
}
