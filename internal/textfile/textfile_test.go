package textfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func packed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// source reads a text.
func source[T string | []byte](t testing.TB, text T) *Source {
	t.Helper()
	return must.Of(NewSource("f", bytes.NewReader([]byte(text))))(t)
}

func lines(t testing.TB, s *Source) []string {
	t.Helper()
	var all []string
	for {
		line, err := s.Line()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, string(line))
		require.Equal(t, len(all), s.LineNumber())
	}
}

func TestSourcesThatAreNotText(t *testing.T) {
	zipped := packed(t, strings.Repeat("some text\n", 1000))
	damaged := bytes.Clone(zipped)
	damaged[len(damaged)-6] ^= 1 // in the checksum
	for _, c := range []struct{ name, text, want string }{
		{"xz", "\xfd7zXZ\x00....", "f: is compressed by xz, expected plain text or one compressed by gzip"},
		{"zip", "PK\x03\x04....", "f: the zip data are damaged: zip: not a valid zip file"},
		{"UTF-16", "\xff\xfea\x00", "f: is UTF-16 text, expected"},
		{"binary", "ab\x00cd", "f: is binary, expected text"},
		{"binary further down", strings.Repeat("a\n", 300) + "b\x00c", "f:301: has a byte that is zero, expected text"},
		{"gzip header only", "\x1f\x8b", "f: the gzip data end too early, is the file complete?"},
		{"not quite gzip", "\x1f\x8b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
			"f: the gzip data are damaged: gzip: invalid header"},
		{"truncated gzip", string(zipped[:len(zipped)-9]), "the gzip data end too early"},
		{"damaged gzip", string(damaged), "the gzip data are damaged: gzip: invalid checksum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := NewSource("f", strings.NewReader(c.text))
			for err == nil {
				_, err = s.Line()
			}
			var known *Error
			require.ErrorAs(t, err, &known)
			require.Contains(t, err.Error(), c.want)
		})
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none"))
	require.EqualError(t, err, filepath.Join(dir, "none")+": no such file")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Open(dir)
	require.EqualError(t, err, dir+": is a directory, expected a file")
}

// Files of the system, whose sizes are said to be 0, are read all the same.
func TestFilesOfTheSystem(t *testing.T) {
	const path = "/proc/self/status"
	if info, err := os.Stat(path); err != nil || info.Size() > 0 {
		t.Skip("there are none")
	}
	s := must.Of(Open(path))(t)
	defer s.Close()
	require.NotEmpty(t, lines(t, s))
}

func TestNumberRejects(t *testing.T) {
	for text, want := range map[string]string{
		"":          "is empty, expected a number",
		"abc":       `"abc" found, expected a number`,
		"1,5":       `"1,5" found, expected a number`,
		"NaN":       `"NaN" found, expected a finite number`,
		"nan":       `"nan" found, expected a finite number`,
		"inf":       `"inf" found, expected a finite number`,
		"-Infinity": `"-Infinity" found, expected a finite number`,
		"1e400":     `"1e400" is beyond the range of a double`,
		"-1e400":    `"-1e400" is beyond the range of a double`,
		"0x10p0":    `"0x10p0" found, expected a number`,
		"1_000":     `"1_000" found, expected a number`,
		".":         `"." found, expected a number`,
		"-":         `"-" found, expected a number`,
		"1-2":       `"1-2" found, expected a number`,
		"1 2":       `"1 2" found, expected a number`,
		"1..2":      `"1..2" found, expected a number`,
		"٣":         "found, expected a number",
	} {
		_, reason := Number([]byte(text))
		require.Contains(t, reason, want, text)
		require.False(t, IsNumber([]byte(text)), text)
	}
	_, reason := Number([]byte(strings.Repeat("x", 1000)))
	require.Less(t, len(reason), 100)
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello\n"); return err }
	for _, name := range []string{"plain.txt", "packed.txt.gz"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		require.NoError(t, Write(path, hello))
		s := must.Of(Open(path))(t)
		require.Equal(t, []string{"hello"}, lines(t, s))
		require.NoError(t, s.Close())
	}
	raw := must.Of(os.ReadFile(filepath.Join(dir, "packed.txt.gz")))(t)
	require.Equal(t, "\x1f\x8b", string(raw[:2]))

	path := filepath.Join(dir, "plain.txt")
	failure := errors.New("no more numbers")
	err := Write(path, func(w io.Writer) error { io.WriteString(w, "half"); return failure })
	require.ErrorIs(t, err, failure)
	require.EqualError(t, err, path+": cannot be written: no more numbers")
	kept := must.Of(os.ReadFile(path))(t)
	require.Equal(t, "hello\n", string(kept), "the old file stays after an error")

	require.EqualError(t, Write(dir, hello), dir+": is a directory, expected the name of a file to write")
	missing := filepath.Join(dir, "none", "f")
	require.EqualError(t, Write(missing, hello), missing+": cannot be written: there is no directory "+filepath.Join(dir,
		"none"))

	entries := must.Of(os.ReadDir(dir))(t)
	require.Len(t, entries, 2, "no temporary files are left")
}
