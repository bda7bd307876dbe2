package textfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

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
