package cgo_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
