package cgo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// built is the folder that "make deps" builds in.
func built() string {
	if dir := os.Getenv("CONETUNE_DEPS"); dir != "" {
		return dir
	}
	return "build"
}

func sources() string { return filepath.Join(built(), "src") }

// withSources skips unless make deps-src has been here.
func withSources(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"scs-*.tar.gz", "scipy_openblas32-*.whl", "qdldl-*.tar.gz", "osqp-sys-*"} {
		if found, _ := filepath.Glob(filepath.Join(sources(), pattern)); len(found) == 0 {
			t.Skip("no sources of the C libraries here; make deps-src fetches them")
		}
	}
}

// withCargo says whether make deps builds what comes as crates.
func withCargo() bool {
	_, err := exec.LookPath("cargo")
	return err == nil
}

// TestWrongSumStopsTheBuild has a pin that does not fit the source that is there.
func TestWrongSumStopsTheBuild(t *testing.T) {
	withSources(t)
	for _, lib := range []struct{ script, pin, file string }{{"./build-scs.sh", "scs", scsFile},
		{"./build-osqp.sh", "osqp-sys", "osqp-sys-1.0.1"}} {
		pins, out := t.TempDir(), t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(pins, lib.pin+".txt"), []byte(pinOf(lib.file, "something else")),
			0o600))
		cmd := exec.Command("sh", lib.script, out)
		cmd.Env = append(os.Environ(), "DEPS_PINS="+pins, "DEPS_SRC="+sources(), "SCS_SRC=", "OSQP_SRC=")
		text, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, 1, exit.ExitCode())
		assert.Contains(t, string(text), "has the sha256 sum")
		libs, _ := filepath.Glob(filepath.Join(out, "lib", "*.a"))
		assert.Empty(t, libs)
	}
}

// TestOfflineBuild builds the libraries as a program would that has this module from Go's module cache: from a copy of
// this folder that is read-only and whose scripts have no mode to run, into a folder elsewhere, from the sources that
// are there and without a network: with the package clients told so and, where the system allows it, in a network
// namespace of its own. Beside the sources lie some that no pin names. A program is then linked. It takes half a
// minute, ten more of a processor with what is in Rust and C++, and runs only with CONETUNE_BUILD_TEST=1.
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
	module, deps := newModule(t), filepath.Join(t.TempDir(), "deps")
	module.put("versions/versions.go", `package versions

import (
	"github.com/conetune/conetune/internal/cgo/osqp"
	"github.com/conetune/conetune/internal/cgo/scs"
)

func C() string { return scs.Library{}.Version() + " " + osqp.Library{}.Version() }
`)
	module.put("rust/rust.go", "package rust\n\nfunc Version() string { return \"\" }\n")
	if withCargo() {
		module.put("rust/rust.go", `package rust

import (
	"github.com/conetune/conetune/internal/cgo/clarabel"
	"github.com/conetune/conetune/internal/cgo/highs"
)

func Version() string { return " " + clarabel.Version() + " " + highs.Version() }
`)
	}
	module.lock()
	require.NoError(t, os.CopyFS(filepath.Join(deps, "src"), os.DirFS(sources())))
	for _, file := range []string{"scs-3.3.0.tar.gz", "scs-3.3.1.tar", "qdldl-0.tar.gz",
		"scipy_openblas32-0-py3-none-manylinux_2_28_x86_64.aarch64.whl"} {
		require.NoError(t, os.WriteFile(filepath.Join(deps, "src", file), []byte("not a source"), 0o600))
	}
	if withCargo() { // a file of a crate that was changed stops the build
		cmd := exec.Command("sh", "build-clarabel.sh", deps)
		cmd.Env = append(os.Environ(), "DEPS_SRC="+filepath.Join(deps, "src"), "CARGO_NET_OFFLINE=true")
		require.NoError(t, os.MkdirAll(filepath.Join(deps, "lib"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(deps, "lib", "libconetune_blas.so"), nil, 0o600))
		file := filepath.Join(deps, "src", "clarabel-0.11.1", "clarabel", "src", "lib.rs")
		was := must.Of(os.ReadFile(file))(t)
		require.NoError(t, os.WriteFile(file, append(was, '\n'), 0o600))
		text, err := cmd.CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(text), "checksum")
		require.NoError(t, os.WriteFile(file, was, 0o600))
	}
	args := append(alone[:len(alone):len(alone)], "make", "-f", filepath.Join(module.dir, "cgo", "deps.mk"), "deps",
		"DEPS="+deps)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "PIP_NO_INDEX=1", "CARGO_NET_OFFLINE=true", "GOPROXY=off")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	libs, tags, want := []string{"scs", "osqp"}, "scs,osqp", "3.3.1 1.0.0"
	if withCargo() {
		libs, tags, want = append(libs, "clarabel", "highs"), tags+",clarabel,highs", want+" 0.11.1 1.15.0"
	}
	for _, lib := range libs {
		archive := filepath.Join(deps, "lib", "libconetune_"+lib+".a")
		require.FileExists(t, archive)
		nm := must.Of(exec.Command("nm", "-g", archive).Output())(t)
		names := must.Of(os.ReadFile(lib + ".symbols"))(t)
		public, got := map[string][]string{lib: strings.Fields(string(names))}, parse(string(nm))
		if lib == "clarabel" || lib == "highs" {
			got = withoutStandard(got)
		}
		assert.Empty(t, complaints(map[string]table{lib: got}, public))
	}

	app := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module app\n\ngo 1.26\n\nrequire github.com/conetune/conetune v0.0.0\n\nreplace " +
			"github.com/conetune/conetune => " + module.dir + "\n",
		"main.go": `package main

import (
	"fmt"

	"github.com/conetune/conetune/rust"
	"github.com/conetune/conetune/versions"
)

func main() { fmt.Print(versions.C() + rust.Version()) }
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(app, name), []byte(text), 0o600))
	}
	cmd = exec.Command("sh", "-c",
		module.env(deps)+"\ngo build -tags "+tags+" -o app . && env -u CGO_CFLAGS -u CGO_LDFLAGS ./app")
	cmd.Dir = app
	text, err = cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	assert.Equal(t, want, string(text))
	module.unchanged()
}
