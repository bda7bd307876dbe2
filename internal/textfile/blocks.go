package textfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"runtime"
	"slices"

	"github.com/conetune/conetune/internal/crew"
)

const (
	// blockSize is the length of a block, which with what is made of it fits into the cache of a core.
	blockSize = 128 << 10
	// longestBlock bounds the blocks of files with long lines.
	longestBlock = 16 << 20
)

// Block is a stretch of whole lines, each with its end.
type Block struct {
	Text []byte
	// Line is the number of the first line, from 1.
	Line int

	source  *Source
	room    []byte // the memory of Text
	lines   int
	failure error // that comes after the block
}

// TextLine returns the line that starts at a position of the text as [Source.Line] does, and where the next one starts.
// number is the number of the line, for the error.
func (b *Block) TextLine(start, number int) (line []byte, next int, err error) {
	next = start + bytes.IndexByte(b.Text[start:], '\n') + 1
	line, err = b.source.lineOf(b.Text[start:next], number)
	return line, next, err
}

// SetBlocks replaces the number of blocks that [Blocks] parses side by side and their length; 0 leaves the default,
// GOMAXPROCS and 128 KiB. The result does not depend on the number, and on the length only where the budget of memory
// ends: that error names the last line of a block.
func (s *Source) SetBlocks(workers, length int) { s.workers, s.block = workers, length }

// slot has a block, and what is made of it while others are.
type slot[R any] struct {
	block  Block
	part   R
	err    error
	parsed chan struct{} // closed when it is; nil where there is no block
}

// Blocks goes through the rest of the text by blocks of whole lines: these are parsed side by side, each into an R that
// starts as the zero R and is used again, and are merged one at a time in the order of the text, while others are
// parsed. Only merge may call methods of the source that change it, and [Grow]. The first error by the order of the
// text is returned, and nothing after it is merged.
func Blocks[R any](s *Source, parse func(b *Block, into *R) error, merge func(b *Block, from *R) error) error {
	if s.budget.over != nil {
		return s.budget.over
	}
	slots := make([]slot[R], cmp.Or(max(s.workers, 0), runtime.GOMAXPROCS(0)))
	c := &cutter{source: s, line: s.line, size: cmp.Or(max(s.block, 0), blockSize)}
	var group crew.Crew
	defer group.Wait() // which panics where parse did
	settle := func(t *slot[R]) error {
		if t.parsed == nil {
			return nil
		}
		<-t.parsed
		t.parsed = nil
		s.line = t.block.Line + t.block.lines - 1
		if t.err == nil {
			t.err = merge(&t.block, &t.part)
		}
		return cmp.Or(t.err, s.Over(), t.block.failure)
	}
	for next := 0; ; next++ {
		own := &slots[next%len(slots)]
		if err := settle(own); err != nil {
			return err
		}
		if c.ended || !c.fill(&own.block, false) {
			for k := range slots {
				if err := settle(&slots[(next+k)%len(slots)]); err != nil {
					return err
				}
			}
			if c.ended || !c.fill(&own.block, true) {
				return nil
			}
		}
		own.parsed, own.err = make(chan struct{}), errPanic
		group.Go(func() {
			defer close(own.parsed)
			own.err = parse(&own.block, &own.part)
		})
	}
}

// errPanic ends the others where one panics.
var errPanic = errors.New("textfile: a function that parses panicked")

// cutter cuts the text into blocks.
type cutter struct {
	source *Source
	line   int    // the last one of the blocks so far
	size   int    // of a block
	carry  []byte // what was read beyond them
	ended  bool
}

// fill reads the next block; false means that there is none, or that its line is longer than a block and what was read
// before must be merged first: then it is known what the budget has left, whatever the number of blocks that are read
// at a time.
func (c *cutter) fill(b *Block, merged bool) bool {
	s := c.source
	most := max(c.size, len(c.carry)) + 1 // one byte for the end of a last line that has none
	*b = Block{Line: c.line + 1, source: s, room: slices.Grow(b.room[:0], most)}
	n := copy(b.room[:cap(b.room)], c.carry)
	c.carry = c.carry[:0]
	for room := b.room[:max(c.size, n)]; ; {
		m, err := s.read(room[n:])
		n += m
		if err == io.EOF {
			c.ended = true
			if b.Text = room[:n]; n > 0 && room[n-1] != '\n' {
				b.Text = append(b.Text, '\n')
			}
			break
		}
		end := bytes.LastIndexByte(room[:n], '\n') + 1
		if err != nil {
			c.ended = true
			b.failure = s.readError(b.Line+bytes.Count(room[:end], []byte{'\n'}), err)
		} else if end == 0 { // in the midst of a long line
			if !merged {
				c.carry = append(c.carry, room[:n]...)
				return false
			}
			if err := s.tooLong(b.Line, n); err != nil {
				c.ended, b.failure = true, err
				return true
			}
			b.room = append(make([]byte, 0, 2*n+1), room[:n]...)
			room = b.room[:2*n]
			if size := min(4*n, longestBlock); wordSize*float64(size) <= s.left()/8 {
				c.size = max(c.size, size) // the next blocks hold several such lines, where the budget is large enough
			}
			continue
		}
		c.carry = append(c.carry, room[end:n]...)
		b.Text = room[:end]
		break
	}
	b.lines = bytes.Count(b.Text, []byte{'\n'})
	c.line += b.lines
	return len(b.Text) > 0 || b.failure != nil
}

// read fills p as far as there is text. An error comes together with what was read before it.
func (s *Source) read(p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var m int
		m, err = s.text.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; err == nil && empty == 100 {
			err = io.ErrNoProgress
		}
	}
	return n, err
}
