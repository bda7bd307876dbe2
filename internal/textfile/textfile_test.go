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
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func packed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Of(w.Write([]byte(text)))(t)
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

// One line of each kind of blank, and of all; what separates words is the same.
func TestBlanks(t *testing.T) {
	blanks := []string{" ", "\t", "\v", "\f", "\r", "\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000",
		"\ufeff"}
	blanks = append(blanks, strings.Join(blanks, ""))
	for _, b := range blanks {
		require.True(t, IsBlank([]byte(b)), "%q", b)
		require.Equal(t, "a"+b+"é", string(Trim([]byte(b+"a"+b+"é"+b+b))), "%q", b)
		var words []string
		for _, w := range Words(nil, []byte(b+"a"+b+b+"é世"+b+"c\xa0"+b)) {
			words = append(words, string(w))
		}
		require.Equal(t, []string{"a", "é世", "c\xa0"}, words, "%q", b)
	}
	require.True(t, IsBlank(nil))
	for _, other := range []string{"a", "\xa0", "\xc2", "\u200b", "\xef\xbb", "é", "\u0000"} {
		require.False(t, IsBlank([]byte(other)), "%q", other)
		require.Zero(t, LeadingBlank([]byte(other)))
		require.Equal(t, other, string(Trim([]byte(other))))
		require.Len(t, Words(nil, []byte(other)), 1)
	}
	// The package unicode is the judge of all characters but the byte order mark.
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if want := unicode.IsSpace(c) || c == '\ufeff'; want != IsBlank([]byte(string(c))) {
			t.Fatalf("%U", c)
		}
	}
}

// The characters of Unicode Standard Annex 9, section 2, and the controls of ISO 6429; what is shown is Go's own
// notation of a character.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"Größe (µg/l), 体重\n\tшт 👩‍🔬": "Größe (µg/l), 体重\n\tшт 👩‍🔬",
		"\ufffd":                  "\ufffd",
		"a\x1b[31mb\x07c\rd\x00e": `a\x1b[31mb\ac\rd\x00e`,
		"\x7f\u0085\u009b2J":      `\x7f\u0085\u009b2J`,
		"a\x9b2J\xff\xc3":         `a\x9b2J\xff\xc3`,
		"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069": `\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069`,
		"a\u2028b\u2029": `a\u2028b\u2029`,
	} {
		require.Equal(t, want, Printable(text))
		require.Equal(t, want, Printable(want))
	}
}
