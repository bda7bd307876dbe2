package input

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// Standard input that breaks off, or finds no room, is one error.
func TestSpool(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(strings.Repeat("1,2\n", spoolFrom/4+9)),
		iotest.ErrReader(errors.New("gone")))
	require.EqualError(t, readStream("pipe", broken).err, "pipe: cannot be read: gone")
	require.EqualError(t, readStream("pipe", iotest.ErrReader(errors.New("gone"))).err, "pipe: cannot be read: gone")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	s := readStream("pipe", strings.NewReader(strings.Repeat("1,2\n", spoolFrom/4+9)))
	require.NoError(t, s.err)
	require.Nil(t, s.put)
	require.EqualValues(t, spoolFrom+36, s.text.Size())
}
