//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
)

// fifo is a named pipe that gives a text to the first who opens it, and nothing to the second.
func fifo(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, part := range []string{text, ""} {
			if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				_, _ = w.WriteString(part)
				w.Close()
			}
		}
	}()
	t.Cleanup(func() { // nobody waits for the second
		r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		require.NoError(t, err)
		<-done
		r.Close()
	})
	return path
}

// Pipes are read once, and give what files give: tables of columns, packed ones, workbooks and files of LIBSVM, for training, test and prediction, and programs.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	bytesOf := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(path...))
		require.NoError(t, err)
		return string(text)
	}
	mixed, model := filepath.Join("..", "..", "table", "testdata"), filepath.Join(dir, "m.json")
	ridge := func(data string, more ...string) any {
		return conetune(t, append([]string{"tune", "ridge", "--data", data, "--target", "y", "--drop", "member", "--json"}, more...)...).object(t)["refit"]
	}
	want := ridge(filepath.Join(mixed, "mixed.csv"), "--save", model)
	for _, name := range []string{"mixed.csv", "mixed.xlsx", "mixed.arrow"} {
		require.Equal(t, want, ridge(fifo(t, name, bytesOf(mixed, name))), name)
	}
	predicted := conetune(t, "predict", "--model", model, "--data", filepath.Join(mixed, "mixed.csv")).ok(t)
	require.Equal(t, predicted, conetune(t, "predict", "--model", model, "--data", fifo(t, "table", bytesOf(mixed, "mixed.csv"))).ok(t))
	split := []string{"--split", "0.6/rest", "--test"}
	require.Equal(t, ridge(filepath.Join(mixed, "mixed.csv"), append(split, filepath.Join(mixed, "mixed.csv"))...),
		ridge(fifo(t, "a", bytesOf(mixed, "mixed.csv")), append(split, fifo(t, "b", bytesOf(mixed, "mixed.csv")))...))

	numbers := ""
	for i := range 40 {
		numbers += fmt.Sprintf("%d 1:%d 2:%d\n", i%7+i%5, i%5, i%3)
	}
	file := clitest.Write(t, dir, "numbers.svm", numbers)
	lasso := func(data, test string) any {
		return conetune(t, "tune", "lasso", "--data", data, "--test", test, "--json").object(t)["refit"]
	}
	require.Equal(t, lasso(file, file), lasso(fifo(t, "numbers", numbers), fifo(t, "more", numbers)))

	r, w, err := os.Pipe() // as <(..) of a shell gives it
	require.NoError(t, err)
	_, err = w.WriteString(bytesOf(mixed, "mixed.csv"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	defer r.Close()
	require.Equal(t, want, ridge(fmt.Sprintf("/dev/fd/%d", r.Fd())))

	qps := "NAME\nROWS\n N c\n G r\nCOLUMNS\n x c 2 r 1\nRHS\n rhs r 3\nENDATA\n"
	require.InDelta(t, 6, conetune(t, "solve", fifo(t, "program.qps", qps), "--json").object(t)["objective"], 1e-6)
}
