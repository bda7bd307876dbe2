package textfile

import (
	"bytes"
	"io"
	"runtime"
	"sync"

	"github.com/conetune/conetune/internal/crew"
)

const (
	// blockSize is the length of a block, which with what is made of it fits into the cache of a core.
	blockSize = 128 << 10
	// longestBlock bounds the blocks of files with long lines.
	longestBlock = 16 << 20
	// ramp is how many blocks are read before another goroutine is started, so that small files take one.
	ramp = 4
)

// Block is a stretch of whole lines, each with its end.
type Block struct {
	Text []byte
	// Line is the number of the first line, from 1.
	Line int

	source  *Source
	room    []byte // the memory of Text
	lines   int
	share   float64 // of the text that ends with the block, see Source.Fraction
	failure error   // that comes after the block
}

// TextLine returns the line that starts at a position of the text as [Source.Line] does, and where the next one starts. number is
// the number of the line, for the error.
func (b *Block) TextLine(start, number int) (line []byte, next int, err error) {
	next = start + bytes.IndexByte(b.Text[start:], '\n') + 1
	line, err = b.source.lineOf(b.Text[start:next], number)
	return line, next, err
}

// SetBlocks replaces the number of goroutines and the length of the blocks of [Blocks]; 0 leaves the default, GOMAXPROCS goroutines
// and 128 KiB. The result does not depend on the number, and on the length only where the budget of memory ends: that error names the
// last line of a block.
func (s *Source) SetBlocks(workers, length int) { s.workers, s.block = workers, length }

// Blocks goes through the rest of the text by blocks of whole lines, on several goroutines. Each of them has an R of its own, which starts
// as the zero R: it calls parse to fill it from a block and then, in the order of the text and one at a time, merge.
// Only merge may call methods of the source that change it, and [Grow]. The first error by the order of the text is returned,
// and nothing after it is merged.
func Blocks[R any](s *Source, parse func(b *Block, into *R) error, merge func(b *Block, from *R) error) error {
	if s.budget.over != nil {
		return s.budget.over
	}
	p := &pipeline{source: s, workers: s.workers, line: s.line, size: s.block, running: 1}
	if p.workers <= 0 {
		p.workers = runtime.GOMAXPROCS(0)
	}
	if p.size <= 0 {
		p.size = blockSize
		if s.known > 0 {
			p.size = min(p.size, s.known+1)
		}
	}
	p.merged.L = &p.turn
	p.start = func() { p.crew.Go(func() { work(p, parse, merge) }) }
	s.inBlocks, s.share = true, s.fraction(0)
	defer func() { s.inBlocks = false }()
	if p.workers == 1 {
		work(p, parse, merge)
		return p.err
	}
	p.crew.Failed = p.stop
	p.start()
	p.crew.Wait()
	return p.err
}

// pipeline is what the goroutines of Blocks share. A goroutine reads a block while it holds reading, parses it on its own, and merges it
// when it is its turn.
type pipeline struct {
	source  *Source
	crew    crew.Crew
	start   func() // another goroutine
	workers int

	reading sync.Mutex // for the next fields and what the source reads with
	running int
	count   int // of the blocks that were read
	line    int // the last one that was read
	size    int // of a block
	carry   []byte
	ended   bool

	turn    sync.Mutex // for the next fields and what merge changes
	merged  sync.Cond
	next    int // the block that is merged next
	stopped bool
	err     error
}

func work[R any](p *pipeline, parse, merge func(b *Block, r *R) error) {
	b := Block{source: p.source}
	var r R
	for {
		k, ok := p.take(&b)
		if !ok {
			return
		}
		err := parse(&b, &r)
		if !p.wait(k) {
			return
		}
		p.source.line = b.Line + b.lines - 1
		if err == nil {
			err = merge(&b, &r)
		}
		p.source.share = b.share
		if over := p.source.budget.over; err == nil && over != nil {
			err = over
		}
		if err == nil {
			err = b.failure
		}
		p.done(err)
	}
}

// wait waits until block k is next; false means that there was an error before it.
func (p *pipeline) wait(k int) bool {
	p.turn.Lock()
	defer p.turn.Unlock()
	for p.next < k && !p.stopped {
		p.merged.Wait()
	}
	return !p.stopped
}

// done ends the turn of a block.
func (p *pipeline) done(err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.next++
	if err != nil {
		p.err, p.stopped = err, true
	}
	p.merged.Broadcast()
}

// stop ends all.
func (p *pipeline) stop() {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.stopped = true
	p.merged.Broadcast()
}

// take reads the next block and returns its number; false means that there is none, or that it is not wanted any more.
func (p *pipeline) take(b *Block) (k int, ok bool) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.ended {
		return 0, false
	}
	k = p.count
	p.count++
	b.Line, b.failure = p.line+1, nil
	if !p.fill(b, k) {
		p.ended = true
		return 0, false
	}
	b.lines = bytes.Count(b.Text, []byte{'\n'})
	p.line += b.lines
	b.share = p.source.fraction(len(p.carry))
	if !p.ended && p.running < p.workers && p.count >= ramp*p.running {
		p.running++
		p.start()
	}
	return k, len(b.Text) > 0 || b.failure != nil
}

// fill reads whole lines into the block, which is block k. False means that there was an error in a block before it.
func (p *pipeline) fill(b *Block, k int) bool {
	s := p.source
	size := max(p.size, len(p.carry)) + 1 // one byte is for the end of a last line that has none
	if len(b.room) < size {
		b.room = make([]byte, size)
	}
	room := b.room[:size] // and not more: blocks do not depend on which goroutine reads them
	n := copy(room, p.carry)
	p.carry = p.carry[:0]
	for {
		m, err := s.read(room[n : len(room)-1])
		start := n
		n += m
		end := start + bytes.LastIndexByte(room[start:n], '\n') + 1
		switch {
		case err == io.EOF:
			p.ended = true
			if n > 0 && room[n-1] != '\n' {
				room[n] = '\n'
				n++
			}
			b.Text = room[:n]
			return true
		case err == nil && end == start: // in the midst of a long line
			if !p.wait(k) {
				return false
			}
			// What was read before is in the table now, so that the budget is the same whatever the number of goroutines.
			if b.failure = s.tooLong(b.Line, n); b.failure != nil {
				p.ended = true
				b.Text = nil
				return true
			}
			room = p.lengthen(b, n)
			continue
		}
		if end == start { // there was no end of a line before start either
			end = 0
		}
		if err != nil {
			p.ended = true
			b.failure = s.readError(b.Line+bytes.Count(room[:end], []byte{'\n'}), err)
		}
		p.carry = append(p.carry, room[end:n]...)
		b.Text = room[:end]
		return true
	}
}

// lengthen makes room for more of a line, of which n bytes are there, and lets the next blocks hold several such lines where the
// budget is large enough.
func (p *pipeline) lengthen(b *Block, n int) []byte {
	room := make([]byte, 2*n+1)
	copy(room, b.room[:n])
	b.room = room
	if size := min(4*n, longestBlock); wordSize*float64(size) <= p.source.left()/8 {
		p.size = max(p.size, size)
	}
	return room
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
