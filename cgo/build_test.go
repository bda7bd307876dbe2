package cgo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withSources skips unless make deps-src has been here.
func withSources(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"scs-*.tar.gz", "scipy_openblas32-*.whl", "qdldl-*.tar.gz", "osqp-sys-*"} {
		if found, _ := filepath.Glob(filepath.Join("build", "src", pattern)); len(found) == 0 {
			t.Skip("no sources of the C libraries here; make deps-src fetches them")
		}
	}
}

// TestWrongSumStopsTheBuild has a pin that does not fit the source that is there.
func TestWrongSumStopsTheBuild(t *testing.T) {
	withSources(t)
	for _, lib := range []struct{ script, pin string }{{"./build-scs.sh", "scs"}, {"./build-osqp.sh", "osqp-sys"}} {
		pins, out := t.TempDir(), t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(pins, lib.pin+".txt"), []byte(pinOf("something else")), 0o600))
		cmd := exec.Command("sh", lib.script, out)
		cmd.Env = append(os.Environ(), "DEPS_PINS="+pins, "SCS_SRC=", "OSQP_SRC=")
		text, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, 1, exit.ExitCode())
		assert.Contains(t, string(text), "has the sha256 sum")
		libs, _ := filepath.Glob(filepath.Join(out, "lib", "*.a"))
		assert.Empty(t, libs)
	}
}

// TestOfflineBuild builds both libraries from the sources that are there in a place
// without a network: with the package clients told so and, where the system allows
// it, in a network namespace of its own. It takes half a minute, and runs only with
// CONETUNE_BUILD_TEST=1.
func TestOfflineBuild(t *testing.T) {
	if os.Getenv("CONETUNE_BUILD_TEST") == "" {
		t.Skip("CONETUNE_BUILD_TEST is not set")
	}
	withSources(t)
	alone := []string{"unshare", "-rn"}
	if exec.Command("unshare", "-rn", "true").Run() != nil {
		alone = nil
	}
	t.Logf("in a network namespace of its own: %v", alone != nil)
	out := t.TempDir()
	for _, lib := range []string{"scs", "osqp"} {
		args := append(alone[:len(alone):len(alone)], "sh", "./build-"+lib+".sh", out)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "PIP_NO_INDEX=1", "CARGO_NET_OFFLINE=true", "GOPROXY=off")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, string(text))
		assert.FileExists(t, filepath.Join(out, "lib", "libconetune_"+lib+".a"))
		nm, err := exec.Command("nm", "-g", filepath.Join(out, "lib", "libconetune_"+lib+".a")).Output()
		require.NoError(t, err)
		names, err := os.ReadFile(lib + ".symbols")
		require.NoError(t, err)
		public := map[string][]string{lib: strings.Fields(string(names))}
		assert.Empty(t, complaints(map[string]table{lib: parse(string(nm))}, public))
	}
}
