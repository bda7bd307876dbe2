package cgo_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
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

// store is a folder of sources and one of pins for fetch.sh.
type store struct {
	t         *testing.T
	src, pins string
}

func newStore(t *testing.T) store {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	return store{t, t.TempDir(), t.TempDir()}
}

func (s store) put(path string, content []byte) {
	s.t.Helper()
	path = filepath.Join(s.src, path)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, content, 0o600))
}

func (s store) pin(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.pins, name+".txt"), []byte(text), 0o600))
}

// fetch runs fetch.sh without pip and cargo: python3 is a name that does not exist
// unless the test wants one.
func (s store) fetch(args ...string) (string, error) {
	cmd := exec.Command("sh", append([]string{"./fetch.sh"}, args...)...)
	cmd.Env = append(os.Environ(), "DEPS_SRC="+s.src, "DEPS_PINS="+s.pins, "PYTHON=no-such-python")
	if slices.Contains(args, "openblas") {
		cmd.Env = append(cmd.Env, "PYTHON=python3")
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// refused runs fetch.sh and wants exit code 1 with words.
func (s store) refused(words string, args ...string) {
	s.t.Helper()
	out, err := s.fetch(args...)
	var exit *exec.ExitError
	require.ErrorAs(s.t, err, &exit, out)
	assert.Equal(s.t, 1, exit.ExitCode())
	assert.Contains(s.t, out, words)
}

func pinOf(file, content string) string {
	return fmt.Sprintf("# file: %s\nscs==3.3.1 \\\n    --hash=sha256:%x\n", file, sha256.Sum256([]byte(content)))
}

const scsFile = "scs-3.3.1.tar.gz"

func TestFetchKeepsWhatIsThere(t *testing.T) {
	s := newStore(t)
	s.pin("scs", pinOf(scsFile, "the source"))
	s.put(scsFile, []byte("the source"))
	out, err := s.fetch("scs")
	assert.NoError(t, err)
	assert.Empty(t, out)
}

// TestFetchStops has a pin, a file, and what is said about the two.
func TestFetchStops(t *testing.T) {
	pin := pinOf(scsFile, "the source")
	_, nameless, _ := strings.Cut(pin, "\n")
	sum := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	for name, c := range map[string]struct {
		pin, file, content string
		words              []string
	}{
		"wrong sum": {pin, scsFile, "another source", []string{scsFile + " has the sha256 sum", sum("another source"),
			sum("the source")}},
		"no sum": {"# file: scs-3.3.1.tar.gz\nscs==3.3.1\n", scsFile, "a source",
			[]string{"pins/scs.txt holds no sha256 sum"}},
		"no name": {nameless, scsFile, "the source", []string{"pins/scs.txt does not name one file for each sum"}},
		"a path": {"# file: ../scs-3.3.1.tar.gz\n" + nameless, scsFile, "the source",
			[]string{"pins/scs.txt does not name one file for each sum"}},
		"no file": {pin, "", "", []string{"fetching scs needs python3 with pip; or put scs-3.3.1.tar.gz into"}},
		// Any pattern for sources of SCS fits its name, and the pin its content.
		"another name": {pin, "scs-3.3.0.tar.gz", "the source", []string{"fetching scs needs python3"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			s.pin("scs", c.pin)
			if c.file != "" {
				s.put(c.file, []byte(c.content))
			}
			for _, words := range c.words {
				s.refused(words, "scs")
			}
		})
	}
}

// archive is a source package with a file, and with what more is said.
func archive(t *testing.T, more ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	headers := append([]tar.Header{{Name: "scs-3.3.1/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "scs-3.3.1/scs.c"}},
		more...)
	for _, h := range headers {
		if h.Typeflag == 0 {
			h.Typeflag, h.Size = tar.TypeReg, 4
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		require.NoError(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			must.Of(w.Write([]byte("int\n")))(t)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, packed.Close())
	return out.Bytes()
}

// packed puts a source package with its right pin.
func (s store) packed(source []byte) {
	s.pin("scs", pinOf(scsFile, string(source)))
	s.put(scsFile, source)
}

func TestFetchUnpacks(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	source := archive(t)
	s.packed(source)
	out, err := s.fetch("-d", dir, "scs")
	require.NoError(t, err, out)
	text := must.Of(os.ReadFile(filepath.Join(dir, "scs", "scs.c")))(t)
	assert.Equal(t, "int\n", string(text))
	left := must.Of(os.ReadDir(dir))(t)
	assert.Len(t, left, 1)
}

// TestFetchRefusesOddArchives has source packages whose sum is right, and which hold
// what no source has.
func TestFetchRefusesOddArchives(t *testing.T) {
	for _, odd := range []struct {
		header tar.Header
		words  string
	}{
		{tar.Header{Name: "scs-3.3.1/link", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, "holds links, pipes or devices"},
		{tar.Header{Name: "scs-3.3.1/hard", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"},
			"holds links, pipes or devices"},
		{tar.Header{Name: "scs-3.3.1/pipe", Typeflag: tar.TypeFifo}, "holds links, pipes or devices"},
		{tar.Header{Name: "scs-3.3.1/null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
			"holds links, pipes or devices"},
		{tar.Header{Name: "/tmp/outside"}, "holds paths outside of its folder:\n/tmp/outside"},
		{tar.Header{Name: "../outside"}, "holds paths outside of its folder:\n../outside"},
		{tar.Header{Name: "scs-3.3.1/../../outside"}, "holds paths outside of its folder:\nscs-3.3.1/../../outside"},
		{tar.Header{Name: "scs-3.3.10/another"}, "holds paths outside of its folder:\nscs-3.3.10/another"},
		{tar.Header{Name: "scs-3x3.1/another"}, "holds paths outside of its folder:\nscs-3x3.1/another"},
	} {
		s, dir := newStore(t), t.TempDir()
		source := archive(t, odd.header)
		s.packed(source)
		s.refused(odd.words, "-d", dir, "scs")
		assert.NoDirExists(t, filepath.Join(dir, "scs"), odd.header.Name)
		assert.NoDirExists(t, filepath.Join(dir, "scs-3.3.1"), odd.header.Name)
	}
}

// wheel is one of OpenBLAS whose library holds the text.
func wheel(t *testing.T, text string, more ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range append([]string{"scipy_openblas32/lib/libscipy_openblas.so",
		"scipy_openblas32-1.dist-info/licenses/LICENSE.txt"}, more...) {
		f := must.Of(w.Create(name))(t)
		must.Of(f.Write([]byte(text)))(t)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// twoWheels pins one for this machine and one for another.
func twoWheels(t *testing.T, s store, ours []byte) (file string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	machine := must.Of(exec.Command("uname", "-m").Output())(t)
	file = "scipy_openblas32-1-py3-none-manylinux_2_28_" + strings.TrimSpace(string(machine)) + ".whl"
	s.pin("openblas", fmt.Sprintf(
		"# file: scipy_openblas32-1-py3-none-manylinux_2_28_vax.whl\n# file: %s\nscipy-openblas32==1 \\\n"+
			"    --hash=sha256:%x \\\n    --hash=sha256:%x\n", file, sha256.Sum256(wheel(t, "of a vax")), sha256.Sum256(ours)))
	return file
}

// TestFetchTakesOneWheel has wheels of other versions and machines beside the pinned
// one, before and after it in the alphabet.
func TestFetchTakesOneWheel(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	ours := wheel(t, "ours")
	file := twoWheels(t, s, ours)
	s.put(file, ours)
	for _, version := range []string{"-0-", "-1-1-", "-2-"} {
		s.put(strings.Replace(file, "-1-", version, 1), wheel(t, "of somebody else"))
	}
	s.put("scipy_openblas32-1-py3-none-manylinux_2_28_vax.whl", wheel(t, "of a vax"))
	out, err := s.fetch("-d", dir, "openblas")
	require.NoError(t, err, out)
	text := must.Of(os.ReadFile(filepath.Join(dir, "openblas", "scipy_openblas32", "lib", "libscipy_openblas.so")))(t)
	assert.Equal(t, "ours", string(text))
}

// TestFetchPairsNamesAndSums has the wheel of the other machine under our name.
func TestFetchPairsNamesAndSums(t *testing.T) {
	s := newStore(t)
	s.put(twoWheels(t, s, wheel(t, "ours")), wheel(t, "of a vax"))
	s.refused("has the sha256 sum", "openblas")
}

func TestFetchRefusesOddWheels(t *testing.T) {
	for _, odd := range []string{"../outside", "scipy_openblas32/../../outside", "/tmp/outside", "numpy/core.so"} {
		s, dir := newStore(t), t.TempDir()
		ours := wheel(t, "ours", odd)
		s.put(twoWheels(t, s, ours), ours)
		s.refused("holds paths outside of its folder:\n"+odd, "-d", dir, "openblas")
		assert.NoDirExists(t, filepath.Join(dir, "openblas"))
	}
}

// sourceTree puts a folder of OSQP with its right pin.
func sourceTree(t *testing.T, s store) (dir string) {
	t.Helper()
	lines := ""
	for _, file := range []string{"include/osqp.h", "src/osqp.c"} {
		s.put(filepath.Join("osqp-sys-1.0.1", file), []byte(file))
		lines += fmt.Sprintf("%x  ./%s\n", sha256.Sum256([]byte(file)), file)
	}
	s.pin("osqp-sys", pinOf("osqp-sys-1.0.1", lines))
	return filepath.Join(s.src, "osqp-sys-1.0.1")
}

func TestFetchCopiesATree(t *testing.T) {
	s, into := newStore(t), t.TempDir()
	sourceTree(t, s)
	out, err := s.fetch("-d", into, "osqp-sys")
	require.NoError(t, err, out)
	text := must.Of(os.ReadFile(filepath.Join(into, "osqp", "src", "osqp.c")))(t)
	assert.Equal(t, "src/osqp.c", string(text))
}

// TestFetchRefusesOddTrees adds to a tree of sources whose files fit the sum.
func TestFetchRefusesOddTrees(t *testing.T) {
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "more.c"), []byte("int"), 0o600))
	for name, odd := range map[string]struct {
		words string
		add   func(dir string) error
	}{
		"link to a file": {"no links", func(dir string) error {
			return os.Symlink(filepath.Join(elsewhere, "more.c"), filepath.Join(dir, "more.c"))
		}},
		"link to a folder": {"no links", func(dir string) error {
			return os.Symlink(elsewhere, filepath.Join(dir, "more"))
		}},
		"dangling link": {"no links", func(dir string) error {
			return os.Symlink("nowhere", filepath.Join(dir, "src", "CMakeLists.txt"))
		}},
		"pipe": {"no links, pipes", func(dir string) error {
			return exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run()
		}},
		"a file more": {"has the sha256 sum", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "CMakeLists.txt"), nil, 0o600)
		}},
		"a file less": {"has the sha256 sum",
			func(dir string) error { return os.Remove(filepath.Join(dir, "src", "osqp.c")) }},
		"another name": {"has the sha256 sum", func(dir string) error {
			return os.Rename(filepath.Join(dir, "src", "osqp.c"), filepath.Join(dir, "src", "evil.c"))
		}},
		"name of two lines": {"odd name of a file", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "a\nb"), nil, 0o600)
		}},
		"a link as the tree": {"no links", func(dir string) error {
			if err := os.Rename(dir, dir+".moved"); err != nil {
				return err
			}
			return os.Symlink(dir+".moved", dir)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			require.NoError(t, odd.add(sourceTree(t, s)))
			s.refused(odd.words, "osqp-sys")
			s.refused(odd.words, "-d", t.TempDir(), "osqp-sys")
		})
	}
}

// TestFetchChecksWhatItBuilds replaces a source by another one after its first check
// and before it is copied: cp is ours, and takes the other one.
func TestFetchChecksWhatItBuilds(t *testing.T) {
	s, dir, bin := newStore(t), t.TempDir(), t.TempDir()
	source := archive(t)
	s.packed(source)
	s.put("other", archive(t, tar.Header{Name: "scs-3.3.1/more.c"}))
	real := must.Of(exec.LookPath("cp"))(t)
	script := fmt.Sprintf("#!/bin/sh\n%s '%s/other' \"$2\"\n", real, s.src)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "cp"), []byte(script), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s.refused("has the sha256 sum", "-d", dir, "scs")
	assert.NoDirExists(t, filepath.Join(dir, "scs"))
}

// TestFetchSaysWhereToWrite is a folder in which nothing can be made.
func TestFetchSaysWhereToWrite(t *testing.T) {
	s := newStore(t)
	require.NoError(t, os.WriteFile(filepath.Join(s.src, "file"), nil, 0o600))
	s.src = filepath.Join(s.src, "file", "src")
	s.refused("give another one: make deps DEPS=DIR", "scs")
}
