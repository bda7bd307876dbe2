//go:build unix

package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/conetune/conetune/internal/must"
)

// A pipe without a reader is an error at once; with one it gets the text, which Check has not ended before.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	require.EqualError(t, Write(path, text("x")), path+": cannot be written: it is a pipe that nobody reads")
	_, err := Create(path)
	require.EqualError(t, err, path+": cannot be written: it is a pipe that nobody reads")

	r := must.Of(os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0))(t)
	defer r.Close()
	require.NoError(t, Check(path))
	long := strings.Repeat("0123456789", 30_000) // more than a pipe holds
	done := make(chan error, 1)
	go func() { done <- Write(path, text(long)) }()
	var got []byte
	for len(got) < len(long) {
		part := make([]byte, 1<<16)
		n, err := r.Read(part)
		if err != nil && err != io.EOF { // the end, before the writer has come
			require.NoError(t, err)
		}
		got = append(got, part[:n]...)
	}
	require.NoError(t, <-done)
	require.Equal(t, long, string(got))
}

// A folder that is there and takes no files is not said to be missing.
func TestFolderThatTakesNothing(t *testing.T) {
	if info, err := os.Stat("/proc/self"); err != nil || !info.IsDir() {
		t.Skip("no /proc here")
	}
	for _, err := range []error{Check("/proc/x.json"), Write("/proc/x.json", text("x"))} {
		require.EqualError(t, err, "/proc/x.json: cannot be written: /proc takes no new files")
	}
	require.EqualError(t, Check("/proc/none/x.json"),
		"/proc/none/x.json: cannot be written: there is no directory /proc/none")
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no full device here")
	}
	for _, size := range []int{1, 100_000} {
		require.EqualError(t, Write("/dev/full", text(strings.Repeat("x", size))),
			"/dev/full: cannot be written: no space left on device")
	}
}
