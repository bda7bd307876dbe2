package proptest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/must"
)

// Runs draw the same values.
func TestSameValues(t *testing.T) {
	draw := func() (out []uint64) {
		Check(t, func(r *rapid.T) { out = append(out, rapid.Uint64().Draw(r, "v")) })
		return out
	}
	first := draw()
	require.Greater(t, len(first), 10)
	require.Equal(t, first, draw())
}

// failing is a test that records that it failed.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Errorf(string, ...any) { f.failed = true }
func (f *failing) Failed() bool          { return f.failed }
func (f *failing) FailNow()              {}

// What breaks a property is written down, and is tried first where the property is checked again.
func TestFailureIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	large := func(first *uint64) func(*rapid.T) {
		return func(r *rapid.T) {
			v := rapid.Uint64().Draw(r, "v")
			if *first == 0 {
				*first = v
			}
			if v > 1000 {
				r.Fatalf("%d is large", v)
			}
		}
	}
	var drawn, again uint64
	f := &failing{TB: t}
	Check(f, large(&drawn))
	require.True(t, f.failed)
	files := must.Of(filepath.Glob("testdata/rapid/" + t.Name() + "/*.fail"))(t)
	require.Len(t, files, 1)
	f.failed = false
	Check(f, large(&again))
	require.True(t, f.failed)
	require.EqualValues(t, 1001, again) // the least that fails
}

// No test of the project has a seed of its own, as of the clock.
func TestOneSeed(t *testing.T) {
	byClock := regexp.MustCompile(
		`rapid\.(Make)?Check\(|PCG\(uint64\(time\.|UnixNano\(\)\), |maphash\.Hash|rand\.(IntN|N|Float64|NormFloat64|Perm|Shuffle|Uint64|Int64)\(`)
	read := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "build" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") || filepath.Base(filepath.Dir(path)) == "proptest" {
			return nil
		}
		read++
		text, err := os.ReadFile(path)
		require.NotRegexp(t, byClock, string(text), path)
		return err
	}))
	require.Greater(t, read, 100)
}
