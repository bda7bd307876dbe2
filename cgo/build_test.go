package cgo_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// foreign are the functions that a library may take from elsewhere: memory, text
// and clock of C, its mathematics, the BLAS (with scipy_ before its names if it is the
// pinned one), the three functions by which it is interrupted, and the printf of ours
// that prints nothing. Nothing that prints, opens files, handles signals or starts
// threads is among them.
var foreign = strings.Fields(`
	_GLOBAL_OFFSET_TABLE_ calloc clock_gettime free malloc memcpy memmove memset qsort realloc sprintf strcpy strlen
	exp fmod log pow sqrt
	dgesdd_ dpotrf_ dpotrs_ dsymv_ dsyr2k_ sgemm_ sgemv_ sgesdd_ sgesv_ sgesvd_ spotrf_ spotrs_ ssyevr_ ssymv_ ssyr2k_ ssyrk_
	daxpy_ ddot_ dgemm_ dgemv_ dgeqp3_ dgesv_ dgesvd_ dgetrs_ dnrm2_ dormqr_ dscal_ dsyev_ dsyevr_ dsyrk_ dtrmv_ dtrsv_ idamax_
	zheevr_ zherk_ zscal_
	cblas_daxpy cblas_dcopy cblas_dgemm cblas_dgemv cblas_dger cblas_dscal cblas_dswap cblas_dsyrk cblas_dtpsv cblas_dtrsm cblas_dtrsv
	scs_start_interrupt_listener scs_end_interrupt_listener scs_is_interrupted conetune_scs_printf __wrap_scs_solve_lin_sys
	osqp_start_interrupt_listener osqp_end_interrupt_listener osqp_is_interrupted`)

// table is what nm says about a library: names that it defines for others, and
// names that it wants from others.
type table struct {
	defines, wants []string
}

// parse reads the output of nm -g: "address kind name", without address for "U".
func parse(nm string) table {
	var t table
	for line := range strings.Lines(nm) {
		switch f := strings.Fields(line); {
		case len(f) == 2 && (f[0] == "U" || f[0] == "w"):
			t.wants = append(t.wants, f[1])
		case len(f) == 3:
			t.defines = append(t.defines, f[2])
		}
	}
	return t
}

// complaints compares libraries with the names that they should show.
func complaints(tables map[string]table, public map[string][]string) []string {
	var out []string
	owner := map[string]string{}
	for _, lib := range slices.Sorted(maps.Keys(tables)) {
		t := tables[lib]
		for _, name := range t.defines {
			if !slices.Contains(public[lib], name) {
				out = append(out, fmt.Sprintf("%s leaks %s", lib, name))
			}
			if other := owner[name]; other != "" {
				out = append(out, fmt.Sprintf("%s and %s both define %s", other, lib, name))
			}
			owner[name] = lib
		}
		for _, name := range public[lib] {
			if !slices.Contains(t.defines, name) {
				out = append(out, fmt.Sprintf("%s lacks %s", lib, name))
			}
		}
		for _, name := range t.wants {
			if !slices.Contains(foreign, strings.TrimPrefix(name, "scipy_")) {
				out = append(out, fmt.Sprintf("%s wants %s", lib, name))
			}
		}
	}
	return out
}

func TestSymbols(t *testing.T) {
	tables, public := map[string]table{}, map[string][]string{}
	for _, lib := range []string{"scs", "osqp", "clarabel", "highs"} {
		archive := filepath.Join(built(), "lib", "libconetune_"+lib+".a")
		if _, err := os.Stat(archive); err != nil {
			if lib == "clarabel" || lib == "highs" {
				continue // where there is no cargo
			}
			t.Skip("no C libraries here; make deps builds them")
		}
		nm, err := exec.Command("nm", "-g", archive).Output()
		require.NoError(t, err, "nm of GNU binutils")
		names := must.Of(os.ReadFile(lib + ".symbols"))(t)
		tables[lib], public[lib] = parse(string(nm)), strings.Fields(string(names))
	}
	assert.NotContains(t, tables["highs"].wants, "abort") // its orderings would
	for _, lib := range []string{"clarabel", "highs"} {
		if t, ok := tables[lib]; ok {
			tables[lib] = withoutStandard(t)
		}
	}
	assert.Empty(t, complaints(tables, public))
}

// withoutStandard leaves of what a library in Rust or C++ wants the BLAS and functions that print. The rest is for
// their standard libraries, and for all of what they could do: that it prints nothing and handles no signals is seen
// when it runs (backends/clarabel, backends/highs).
func withoutStandard(t table) table {
	t.wants = slices.DeleteFunc(t.wants, func(name string) bool {
		return strings.HasPrefix(name, "_Z") || !strings.HasPrefix(name, "scipy_") && !strings.HasSuffix(name, "_") &&
			!slices.Contains([]string{"printf", "puts", "putchar"}, name)
	})
	return t
}

func TestSymbolsSeesClashes(t *testing.T) {
	public := map[string][]string{"one": {"one_solve", "one_free"}, "two": {"two_solve"}}
	got := complaints(map[string]table{
		"one": parse("\none.o:\n0000000000000010 T one_solve\n0000000000000020 T QDLDL_factor\n                 U malloc\n " +
			"                U printf\n"),
		"two": parse("0000000000000010 T two_solve\n0000000000000000 B QDLDL_factor\n                 w sigaction\n"),
	}, public)
	assert.Equal(t, []string{
		"one leaks QDLDL_factor", "one lacks one_free", "one wants printf",
		"two leaks QDLDL_factor", "one and two both define QDLDL_factor", "two wants sigaction",
	}, got)
}

// TestLicenses looks for the text of each licence beside the libraries.
func TestLicenses(t *testing.T) {
	if _, err := os.Stat(filepath.Join(built(), "lib", "libconetune_scs.a")); err != nil {
		t.Skip("no C libraries here; make deps builds them")
	}
	if _, err := os.Stat(filepath.Join(built(), "lib", "libscipy_openblas.so")); err == nil {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", "OpenBLAS.txt")))(t)
		assert.Contains(t, string(text), "The OpenBLAS Project")
	}
	if _, err := os.Stat(filepath.Join(built(), "lib", "libconetune_clarabel.a")); err == nil {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", "Clarabel-crates.txt")))(t)
		for _, words := range []string{"faer v0.21.9: MIT", "serde v", "--- ", "Permission is hereby granted"} {
			assert.Contains(t, string(text), words)
		}
		text = must.Of(os.ReadFile(filepath.Join(built(), "licenses", "Clarabel.txt")))(t)
		assert.Contains(t, string(text), "Apache License")
	}
	if _, err := os.Stat(filepath.Join(built(), "lib", "libconetune_highs.a")); err == nil {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", "HiGHS.txt")))(t)
		assert.Contains(t, string(text), "MIT License")
	}
	for name, words := range map[string]string{
		"SCS": "Permission is hereby granted", "SCS-amd": "BSD 3-clause", "SCS-qdldl": "Apache License",
		"OSQP":        "Apache License",
		"OSQP-NOTICE": "OSQP", "OSQP-amd": "BSD 3-clause", "OSQP-qdldl": "Apache License",
	} {
		text := must.Of(os.ReadFile(filepath.Join(built(), "licenses", name+".txt")))(t)
		assert.Contains(t, string(text), words, name)
	}
}

// module is a copy of this folder and of the packages that link the libraries, as Go's module
// cache holds it: without what was built here, read-only, and with no file that may be run.
type module struct {
	t     *testing.T
	dir   string
	files map[string]string
}

func newModule(t *testing.T) *module {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	m := &module{t: t, dir: filepath.Join(t.TempDir(), "conetune@v0.0.0")}
	for from, to := range map[string]string{".": "cgo", "../internal/cgo": "internal/cgo",
		"../internal/mirror": "internal/mirror"} {
		m.copy(from, to)
	}
	m.put("go.mod", "module github.com/conetune/conetune\n\ngo 1.26\n")
	return m
}

// copy takes the files below a folder to one of the module.
func (m *module) copy(from, to string) {
	m.t.Helper()
	require.NoError(m.t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		target := filepath.Join(m.dir, to, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case path == "build":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case strings.HasPrefix(d.Name(), "built"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	}))
}

func (m *module) put(path, text string) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(filepath.Join(m.dir, path)), 0o700))
	require.NoError(m.t, os.WriteFile(filepath.Join(m.dir, path), []byte(text), 0o600))
}

// walk sets the modes, and returns the contents.
func (m *module) walk(file, folder fs.FileMode) map[string]string {
	m.t.Helper()
	files := map[string]string{}
	require.NoError(m.t, filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			files[path] = "folder"
			return os.Chmod(path, folder)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files[path] = string(text)
		return os.Chmod(path, file)
	}))
	return files
}

// lock makes all read-only until the test ends.
func (m *module) lock() {
	m.files = m.walk(0o444, 0o555)
	m.t.Cleanup(func() { m.walk(0o600, 0o700) })
}

// unchanged wants the files of lock and no others.
func (m *module) unchanged() {
	m.t.Helper()
	assert.Equal(m.t, m.files, m.walk(0o444, 0o555))
}

func (m *module) make(args ...string) (string, error) {
	cmd := exec.Command("make", append([]string{"-s", "-f", filepath.Join(m.dir, "cgo", "deps.mk")}, args...)...)
	cmd.Dir = m.t.TempDir()
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CGO_") && !strings.HasPrefix(v, "CONETUNE_DEPS=") && !strings.HasPrefix(v, "MAKE") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// env is what deps-env prints.
func (m *module) env(deps string) string {
	m.t.Helper()
	text, err := m.make("deps-env", "DEPS="+deps)
	require.NoError(m.t, err, text)
	return text
}

// TestDepsElsewhere checks sources in a folder of its own, by the scripts of a module
// cache and with pins of the test, and leaves the cache alone.
func TestDepsElsewhere(t *testing.T) {
	m, deps := newModule(t), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(deps, "src"), 0o700))
	for _, name := range []string{"scs", "qdldl", "openblas"} {
		m.put(filepath.Join("cgo", "pins", name+".txt"), pinOf(name+".pinned", "the source"))
		require.NoError(t, os.WriteFile(filepath.Join(deps, "src", name+".pinned"), []byte("the source"), 0o600))
	}
	tree := filepath.Join(deps, "src", "osqp-sys-1.0.1")
	require.NoError(t, os.Mkdir(tree, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "osqp.c"), []byte("the source"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(deps, "src", "clarabel-0.11.1"), 0o700)) // of which cargo checks the sums
	tree = filepath.Join(deps, "src", "highs-sys-1.15.0")
	require.NoError(t, os.Mkdir(tree, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "highs.cc"), []byte("the source"), 0o600))
	m.put("cgo/pins/highs-sys.txt", pinOf("highs-sys-1.15.0", fmt.Sprintf("%x  ./highs.cc\n",
		sha256.Sum256([]byte("the source")))))
	m.put("cgo/pins/osqp-sys.txt", pinOf("osqp-sys-1.0.1", fmt.Sprintf("%x  ./osqp.c\n",
		sha256.Sum256([]byte("the source")))))
	m.lock()

	text, err := m.make("deps-src", "DEPS="+deps)
	require.NoError(t, err, text)
	require.NoError(t, os.WriteFile(filepath.Join(deps, "src", "scs.pinned"), []byte("another source"), 0o600))
	text, err = m.make("deps", "DEPS="+deps)
	assert.Error(t, err)
	assert.Contains(t, text, "scs.pinned has the sha256 sum")
	m.unchanged()
}

// TestDepsEnv looks at what Go is told of a folder elsewhere.
func TestDepsEnv(t *testing.T) {
	m, deps := newModule(t), t.TempDir()
	m.lock()
	text, err := m.make("deps-env", "DEPS="+deps)
	assert.Error(t, err)
	assert.Contains(t, text, "run make deps first")

	lib := filepath.Join(deps, "lib")
	require.NoError(t, os.Mkdir(lib, 0o700))
	for _, name := range []string{"scs", "osqp"} {
		require.NoError(t, os.WriteFile(filepath.Join(lib, "libconetune_"+name+".a"), []byte(name), 0o600))
	}
	get := func() (compile, link string) {
		out, err := exec.Command("sh", "-c", m.env(deps)+"\n"+`echo "$CGO_ENABLED|$CGO_CFLAGS|$CGO_LDFLAGS"`).Output()
		require.NoError(t, err)
		words := strings.Split(strings.TrimSpace(string(out)), "|")
		require.Len(t, words, 3)
		assert.Equal(t, "1", words[0])
		return words[1], words[2]
	}
	compile, link := get()
	want := "-g -O2 -idirafter " + deps + "/include/scs -idirafter " + deps + "/include/osqp"
	if withCargo() {
		want += " -idirafter " + deps + "/include/clarabel -idirafter " + deps + "/include/highs"
	}
	assert.Contains(t, compile, want+" -DCONETUNE_DEPS=")
	assert.Equal(t, "-L"+lib+" -Wl,-rpath,"+lib, link)

	// Another library gives other flags, by which Go sees that there is something to do.
	require.NoError(t, os.WriteFile(filepath.Join(lib, "libconetune_scs.a"), []byte("another"), 0o600))
	again, _ := get()
	assert.NotEqual(t, compile, again)
	m.unchanged()
}

// TestDepsCleanLeavesTheRest has a folder for the libraries that holds other things.
func TestDepsCleanLeavesTheRest(t *testing.T) {
	m, deps := newModule(t), t.TempDir()
	m.lock()
	for _, file := range []string{"mine", "src/mine.c", "lib/libmine.a", "lib/libconetune_scs.a", "licenses/SCS.txt",
		"scs.from", "src/scs-3.3.1.tar.gz"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(deps, file)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(deps, file), nil, 0o600))
	}
	text, err := m.make("deps-distclean", "DEPS="+deps)
	require.NoError(t, err, text)
	var left []string
	require.NoError(t, filepath.WalkDir(deps, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left = append(left, strings.TrimPrefix(path, deps+"/"))
		}
		return err
	}))
	assert.Equal(t, []string{"lib/libmine.a", "mine", "src/mine.c"}, left)
	m.unchanged()
}

// TestDepsSaysWhere is a module in whose folder nothing can be built.
func TestDepsSaysWhere(t *testing.T) {
	m := newModule(t)
	m.put("cgo/build", "a file in the way, as no mode stops root")
	m.lock()
	text, err := m.make("deps")
	assert.Error(t, err)
	assert.Contains(t, text, "make deps DEPS=DIR builds in another folder")
}
