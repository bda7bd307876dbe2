package textfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
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

func TestCharge(t *testing.T) {
	s := source(t, "a\n")
	s.SetMemory(5e6)
	require.NoError(t, s.Charge(1, "order", 3e6, "%d found: a matrix", 7))
	require.EqualError(t, s.Charge(2, "order", 3e6, "%d found: a matrix", 8),
		"f:2: order: 8 found: a matrix takes about 6 MB of memory, but the budget is 5 MB (GOMEMLIMIT gives more)")
	require.NoError(t, s.Charge(3, "", 2e6, "the rest"), "what was refused is not counted")
	require.Error(t, s.Charge(3, "", 1, "one more"))
	s.SetMemory(math.MaxInt64)
	require.Error(t, s.Charge(4, "", 1e19, "more than an int can count"))
	require.Error(t, s.Charge(4, "", math.Inf(1), "what overflows"))
}

// The budget is the limit of the Go runtime, where one is set.
func TestDefaultBudget(t *testing.T) {
	old := debug.SetMemoryLimit(3e9)
	defer debug.SetMemoryLimit(old)
	s := source(t, "a\n")
	require.NoError(t, s.Charge(1, "", 2e9, "a table"))
	require.ErrorContains(t, s.Charge(1, "", 2e9, "a table"), "but the budget is 3 GB")
}

// What grows beyond the budget ends at the next line, with room for what was asked until then; and a text
// that is small when it is packed does not take more than the budget either.
func TestGrowthIsBounded(t *testing.T) {
	text := packed(t, strings.Repeat("1\n", 1<<20))
	s := source(t, text)
	s.SetMemory(1 << 20)
	var values []float64
	_, err := s.Line()
	for ; err == nil; _, err = s.Line() {
		values = append(Grow(s, values, 1), 1)
	}
	require.ErrorContains(t, err,
		"f:131073: what was read up to here takes about 1.05 MB of memory, but the budget is 1.05 MB")
	require.Len(t, values, 1<<17+1)

	s = source(t, packed(t, strings.Repeat("x", 1<<22)))
	s.SetMemory(16 << 20)
	_, err = s.Line()
	require.ErrorContains(t, err, "f:1: a line of such a length takes about")
	require.Less(t, cap(s.long), 2<<20)
	s = source(t, packed(t, strings.Repeat("x", 1<<22)))
	s.SetMemory(65 << 20)
	line := must.Of(s.Line())(t)
	require.Len(t, line, 1<<22)
	_, err = s.Line()
	require.Equal(t, io.EOF, err)
}

// prefix is the longest start of the text that is a number in plain decimal notation, found by trying all of them, and
// its value from strconv. An exponent without digits, and a number out of range, count as none.
func prefix(text string) (value float64, length int) {
	for n := len(text); n > 0; n-- {
		if strings.Trim(text[:n], "0123456789.eE+-") != "" {
			continue
		}
		v, err := strconv.ParseFloat(text[:n], 64)
		if err == nil {
			if n < len(text) && text[n]|0x20 == 'e' && !strings.ContainsAny(text[:n], "eE") {
				return 0, 0
			}
			return v, n
		}
		if _, is := err.(*strconv.NumError); is && err.(*strconv.NumError).Err == strconv.ErrRange {
			return 0, 0
		}
	}
	return 0, 0
}

func checkDecimal(t interface{ Fatalf(string, ...any) }, text string) {
	want, n := prefix(text)
	got, length := Decimal([]byte(text))
	if length != n || math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q: %b of %d bytes, expected %b of %d", text, got, length, want, n)
	}
}

// Every number must have the bits that strconv gives it, whatever follows it.
func TestDecimalAgreesWithStrconv(t *testing.T) {
	digits := rapid.StringMatching(`[0-9]{0,24}`)
	proptest.Check(t, func(t *rapid.T) {
		sign := rapid.SampledFrom([]string{"", "-", "+"})
		text := sign.Draw(t, "sign") + digits.Draw(t, "whole") + rapid.SampledFrom([]string{"", "."}).Draw(t, "point") +
			digits.Draw(t, "fraction")
		if rapid.Bool().Draw(t, "power") {
			text += rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + sign.Draw(t, "sign of e") +
				rapid.StringMatching(`[0-9]{0,3}`).Draw(t, "exponent")
		}
		checkDecimal(t, text+rapid.SampledFrom([]string{"", " ", ",0123456", "\n1", ":", "x", ".5", "-1", "e",
			"\xff12345678"}).Draw(t, "rest"))
	})
	// All ways to write the same double.
	proptest.Check(t, func(t *rapid.T) {
		v := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "near 1") {
			v = math.Ldexp(1+math.Abs(math.Mod(v, 1)), rapid.IntRange(-90, 90).Draw(t, "power of two"))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		checkDecimal(t, strconv.FormatFloat(v, rapid.SampledFrom([]byte("efg")).Draw(t, "format"),
			rapid.IntRange(-1, 22).Draw(t, "digits"), 64))
	})
}

func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"", "-", "1", "-0", "+.5", "5.", ".", "1e", "1e+", "1E-5x", "9007199254740993",
		"0.9007199254740993", "18446744073709551615", "18446744073709551616",
		"99999999999999999999", "1.7976931348623159e308", "4.9e-324", "2.4e-324", "1e99999999999999999999",
		"123456789.123456789,", "0.00000000000000000000000012345678901234567",
		"1234567890123456789e27", "1234567890123456789e-27", "1e28", "0x1p3", "1_0", "inf", "nan", "12345678:",
		"0.1234567\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkDecimal(t, text[:min(len(text), 400)]) })
}

func TestDecimalDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"-12.25", "-1.2345678901234567e-300", "-1.2345678901234567",
		"0.1234567890123456789012345678901234567890", "1e-300"} {
		b := []byte(text)
		require.Zero(t, testing.AllocsPerRun(100, func() { Decimal(b); Number(b) }), text)
	}
}

// throughBlocks returns the lines of a text and the first of them that is wanted to be an error.
func throughBlocks(s *Source, bad string) ([]string, error) {
	type part struct{ lines []string }
	var all []string
	err := Blocks(s, func(b *Block, p *part) error {
		p.lines = nil
		for at, number := 0, b.Line; at < len(b.Text); number++ {
			line, next, err := b.TextLine(at, number)
			if err != nil {
				return err
			}
			if string(line) == bad {
				return s.Errorf(number, "", "is bad")
			}
			p.lines = append(p.lines, string(line))
			at = next
		}
		return nil
	}, func(b *Block, p *part) error {
		if b.Line != len(all)+1 {
			return errors.New("line " + strconv.Itoa(b.Line) + " follows " + strconv.Itoa(len(all)))
		}
		all = append(all, p.lines...)
		return nil
	})
	return all, err
}

// One by one, and whatever the blocks and the number of goroutines, the lines are those of the text; plain, packed, and
// from readers that return a byte at a time or an error with the last bytes.
func TestBlocksHaveAllLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	long := strings.Repeat("0123456789", 3*HeadBytes/10)
	texts := []string{"", "\n", "a", "a\nb", "a\n\n\nb\n", long, "a\n" + long + "\nb\n" + long + "\n\n",
		"\xef\xbb\xbfa\r\nb\r\n\r\n"}
	for range 5 {
		var text strings.Builder
		for range r.IntN(400) {
			text.WriteString(strings.Repeat(strconv.Itoa(r.IntN(1000)), r.IntN(9)*r.IntN(9)*r.IntN(9)) + "\n")
		}
		texts = append(texts, text.String())
	}
	for _, text := range texts {
		var want []string
		for line := range strings.Lines(strings.TrimPrefix(text, "\xef\xbb\xbf")) {
			want = append(want, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		require.Equal(t, want, lines(t, source(t, text)))
		require.Equal(t, want, lines(t, source(t, packed(t, text))))
		for _, workers := range []int{0, 1, 2, 7} {
			for _, size := range []int{0, 1, 17, 300} {
				for name, from := range map[string]io.Reader{"memory": strings.NewReader(text),
					"packed": bytes.NewReader(packed(t, text)), "halves": iotest.HalfReader(strings.NewReader(text)),
					"error with data": iotest.DataErrReader(strings.NewReader(text))} {
					s := must.Of(NewSource("f", from))(t)
					s.SetBlocks(workers, size)
					got := must.Of(throughBlocks(s, "-"))(t)
					require.Equal(t, want, got, "%s, %d workers, %d bytes", name, workers, size)
					require.Equal(t, len(want), s.LineNumber())
					_, err := s.Line()
					require.Equal(t, io.EOF, err)
				}
			}
		}
	}
}

// The first error of the text is the one returned: bad lines, bytes that are zero, and data that end too early or
// cannot be read.
func TestBlocksFirstError(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		text.WriteString("line " + strconv.Itoa(i+1) + "\n")
	}
	cut := packed(t, text.String())
	cut = cut[:len(cut)-4]
	for _, c := range []struct {
		name string
		from func() io.Reader
		bad  string
		want string
	}{
		{"bad line", func() io.Reader { return strings.NewReader(text.String()) }, "line 3000", "f:3000: is bad"},
		{"bad line before zero", func() io.Reader { return strings.NewReader(text.String() + "\x00\n") }, "line 4999",
			"f:4999: is bad"},
		{"zero", func() io.Reader { return strings.NewReader(text.String() + "\x00\nbad\n") }, "bad",
			"f:5001: has a byte that is zero, expected text"},
		{"cut", func() io.Reader { return bytes.NewReader(cut) }, "-",
			"f:5001: the gzip data end too early, is the file complete?"},
		{"bad line before cut", func() io.Reader { return bytes.NewReader(cut) }, "line 5000", "f:5000: is bad"},
		{"not readable", func() io.Reader {
			return io.MultiReader(strings.NewReader(text.String()+"half"), iotest.ErrReader(errors.New("broken")))
		}, "half", "f:5001: cannot be read: broken"},
		{"nothing comes", func() io.Reader { return io.MultiReader(strings.NewReader(text.String()), silent{}) }, "-",
			"f:5001: cannot be read: multiple Read calls return no data or error"},
	} {
		for _, workers := range []int{1, 2, 7} {
			for _, size := range []int{0, 1, 100, 4000} {
				s := must.Of(NewSource("f", c.from()))(t)
				s.SetBlocks(workers, size)
				_, err := throughBlocks(s, c.bad)
				require.EqualError(t, err, c.want, "%s, %d workers, %d bytes", c.name, workers, size)
			}
		}
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// What grows beyond the budget is an error at the same line whatever the number of goroutines, and so is a line that is
// too long for what the lines before it have left.
func TestBlocksWithinTheBudget(t *testing.T) {
	for _, c := range []struct {
		text   string
		memory int64
		want   string
	}{
		{strings.Repeat("1\n", 1<<20), 1 << 20, "what was read up to here takes about"},
		{strings.Repeat("1\n", 1<<16) + strings.Repeat("x", 1<<22) + "\n1\n", 16 << 20,
			"f:65537: a line of such a length takes about"},
	} {
		var first error
		for _, workers := range []int{1, 2, 7, 7, 7} {
			s := source(t, packed(t, c.text))
			s.SetMemory(c.memory)
			s.SetBlocks(workers, 0)
			var values []float64
			err := Blocks(s, func(b *Block, n *int) error { *n = bytes.Count(b.Text, []byte{'\n'}); return nil },
				func(b *Block, n *int) error {
					values = append(Grow(s, values, *n), make([]float64, *n)...)
					return nil
				})
			require.ErrorContains(t, err, c.want)
			if first == nil {
				first = err
			}
			require.Equal(t, first, err)
			require.LessOrEqual(t, len(values), 1<<18)
		}
	}
}

// A panic while a block is parsed or merged reaches the caller.
func TestBlocksPanic(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, where := range []string{"parse", "merge"} {
			s := source(t, strings.Repeat("abc\n", 1000))
			s.SetBlocks(workers, 40)
			fail := func(at string) func(b *Block, _ *int) error {
				return func(b *Block, _ *int) error {
					if at == where && b.Line > 500 {
						panic(where)
					}
					return nil
				}
			}
			require.PanicsWithValue(t, where, func() { Blocks(s, fail("parse"), fail("merge")) })
		}
	}
}

// Blocks are parsed side by side: each of three goroutines waits in parse until all of them are there.
func TestBlocksSideBySide(t *testing.T) {
	s := source(t, strings.Repeat("abc\n", 1000))
	s.SetBlocks(3, 40)
	var group sync.WaitGroup
	group.Add(3)
	all := make(chan struct{})
	go func() { group.Wait(); close(all) }()
	require.NoError(t, Blocks(s, func(b *Block, waited *bool) error {
		if *waited {
			return nil
		}
		*waited = true
		group.Done()
		select {
		case <-all:
			return nil
		case <-time.After(time.Minute):
			return errors.New("alone")
		}
	}, func(*Block, *bool) error { return nil }))
	<-all
}
