package cgo_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fetch runs fetch.sh on sources and pins of its own, and without a pip: python3
// is a name that does not exist.
func fetch(t *testing.T, pin, file, content string) (string, error) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	src, pins := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(pins, "scs.txt"), []byte(pin), 0o600))
	if file != "" {
		require.NoError(t, os.WriteFile(filepath.Join(src, file), []byte(content), 0o600))
	}
	cmd := exec.Command(sh, "./fetch.sh", "scs")
	cmd.Env = append(os.Environ(), "DEPS_SRC="+src, "DEPS_PINS="+pins, "PYTHON=no-such-python")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func pinOf(content string) string {
	return fmt.Sprintf("scs==3.3.1 \\\n    --hash=sha256:%x\n", sha256.Sum256([]byte(content)))
}

func TestFetchKeepsWhatIsThere(t *testing.T) {
	out, err := fetch(t, pinOf("the source"), "scs-3.3.1.tar.gz", "the source")
	assert.NoError(t, err)
	assert.Empty(t, out)
}

func TestFetchStopsAtAWrongSum(t *testing.T) {
	out, err := fetch(t, pinOf("the source"), "scs-3.3.1.tar.gz", "another source")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Contains(t, out, "scs-3.3.1.tar.gz has the sha256 sum")
	assert.Contains(t, out, fmt.Sprintf("%x", sha256.Sum256([]byte("another source"))))
	assert.Contains(t, out, fmt.Sprintf("%x", sha256.Sum256([]byte("the source"))))
}

func TestFetchStopsWithoutASum(t *testing.T) {
	for _, file := range []string{"", "scs-3.3.1.tar.gz"} {
		out, err := fetch(t, "scs==3.3.1\n", file, "a source")
		assert.Error(t, err)
		assert.Contains(t, out, "pins/scs.txt holds no sha256 sum")
	}
}

func TestFetchSaysWhatItNeeds(t *testing.T) {
	out, err := fetch(t, pinOf("the source"), "", "")
	assert.Error(t, err)
	assert.Contains(t, out, "fetching scs needs python3 with pip; or put scs-*.tar.gz into")
}
