package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func deps(args ...string) (out, log string, err error) {
	var o, l bytes.Buffer
	err = run(args, &o, &l)
	return o.String(), l.String(), err
}

// The scripts in the folder are those of this module, run from there, and what is right there stays as it is.
func TestTags(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	dir := t.TempDir()
	out, log, err := deps("-dir", dir, "-tags", "RUST=")
	require.NoError(t, err, log)
	assert.Equal(t, "scs,osqp\n", out)
	out, log, err = deps("-dir", dir, "-tags", "RUST=clarabel")
	require.NoError(t, err, log)
	assert.Equal(t, "scs,osqp,clarabel\n", out)
	out, log, err = deps("-dir", dir, "-tags", "RUST=clarabel highs")
	require.NoError(t, err, log)
	assert.Equal(t, "scs,osqp,clarabel,highs\n", out)
	for _, file := range []string{"deps.mk", "rust.mk", "fetch.sh", "pins/scs.txt", "crates/Cargo.lock",
		"clarabel/src/lib.rs", "build-highs.sh", "link-highs.sh", "highs/CMakeLists.txt", "highs.symbols",
		"crates/highs/Cargo.lock", "nobuild/setuptools/__init__.py"} {
		want := must.Of(os.ReadFile(filepath.Join("..", file)))(t)
		have := must.Of(os.ReadFile(filepath.Join(dir, "scripts", file)))(t)
		assert.Equal(t, string(want), string(have), file)
	}

	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	kept, changed := filepath.Join(dir, "scripts", "fetch.sh"), filepath.Join(dir, "scripts", "scs.symbols")
	require.NoError(t, os.WriteFile(changed, []byte("other"), 0o600))
	require.NoError(t, os.Chtimes(kept, old, old))
	_, _, err = deps("-dir", dir, "-tags")
	require.NoError(t, err)
	info := must.Of(os.Stat(kept))(t)
	assert.True(t, info.ModTime().Equal(old), "make would build again")
	text := must.Of(os.ReadFile(changed))(t)
	assert.Contains(t, string(text), "scs_")
}

func TestUsage(t *testing.T) {
	_, _, err := deps("-dir", t.TempDir()+"/with space")
	assert.ErrorContains(t, err, "has a space")
	_, _, err = deps("-dir", t.TempDir(), "BLAS_PKG")
	assert.ErrorContains(t, err, "no VARIABLE=VALUE")
	_, log, err := deps("-help")
	assert.ErrorIs(t, err, flag.ErrHelp)
	assert.Contains(t, log, "make deps")
}
