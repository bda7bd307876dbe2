package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/pierrec/lz4/v4"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

// message is the head of a part of the file and where its data begin.
type message struct {
	head object
	kind uint8
	body int64
	size int64 // of the data
}

// The kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// continues stands before the length of each message, but for those of Arrow before version 0.15.
const continues = 1<<32 - 1

// next reads the head of the message that begins at a place, nil at the end of the stream, which may have no mark.
func (f *file) next(at int64) *message {
	const most = 1 << 30
	var first [8]byte
	if at >= f.end {
		return nil
	}
	switch k, err := f.r.ReadAt(first[:min(8, f.end-at)], at); {
	case err != nil && err != io.EOF:
		panic(err)
	case k < 4:
		panic(io.ErrUnexpectedEOF)
	}
	n, prefix := int64(binary.LittleEndian.Uint32(first[:])), int64(4)
	if n == continues {
		n, prefix = int64(binary.LittleEndian.Uint32(first[4:])), 8
	}
	switch {
	case n == 0:
		return nil
	case n > most || at > f.end-prefix-n:
		panic(io.ErrUnexpectedEOF)
	}
	f.builder.Take(n, "a column of it")
	defer f.builder.Take(-n, "")
	head := make([]byte, n)
	if _, err := f.r.ReadAt(head, at+prefix); err != io.EOF {
		table.Check(err)
	}
	o := root(head)
	m := &message{head: o.object(2), kind: o.byte(1, 0), body: at + prefix + n, size: o.long(3)}
	if m.size < 0 || m.size > f.end-m.body {
		panic(errSize)
	}
	return m
}

// batch is a part of the rows, or of a dictionary, whose buffers are taken one after the other.
type batch struct {
	f        *file
	m        *message
	rows     int
	nodes    []node
	buffers  []span
	views    []int64 // how many buffers each column of views has
	codec    int     // of compressed buffers, -1 for none
	compress bool
	held     int64 // bytes in memory
}

// node is how many cells of a column there are, and how many of them are missing.
type node struct{ rows, missing int64 }

// span is a part of the data.
type span struct{ from, size int64 }

// The codecs.
const (
	codecLZ4  = 0
	codecZstd = 1
)

// open reads the head of a batch.
func (f *file) open(m *message, o object) *batch {
	b := &batch{f: f, m: m, rows: size(o.long(0), math.MaxInt32)}
	from, n := o.list(1, 16)
	for i := range n {
		b.nodes = append(b.nodes, node{o.longAt(from + 16*i), o.longAt(from + 16*i + 8)})
	}
	from, n = o.list(2, 16)
	for i := range n {
		b.buffers = append(b.buffers, span{o.longAt(from + 16*i), o.longAt(from + 16*i + 8)})
	}
	if c := o.object(3); c.data != nil {
		b.compress, b.codec = true, int(c.byte(0, 0))
		if b.codec != codecLZ4 && b.codec != codecZstd || c.byte(1, 0) != 0 {
			panic(fmt.Errorf("it is compressed in a way, %d, that is not known", b.codec))
		}
	}
	from, n = o.list(4, 8)
	for i := range n {
		b.views = append(b.views, o.longAt(from+8*i))
	}
	return b
}

var errParts = errors.New("a part of the rows lacks some of a column")

// next is the next node.
func (b *batch) next() node {
	if len(b.nodes) == 0 {
		panic(errParts)
	}
	n := b.nodes[0]
	b.nodes = b.nodes[1:]
	return n
}

// take are the next buffers, as they stand in the file.
func (b *batch) take(n int) []span {
	if n > len(b.buffers) {
		panic(errParts)
	}
	list := b.buffers[:n]
	b.buffers = b.buffers[n:]
	return list
}

// extra are the further buffers of a column of views.
func (b *batch) extra() []span {
	if len(b.views) == 0 {
		panic(errParts)
	}
	n := size(b.views[0], int64(len(b.buffers)))
	b.views = b.views[1:]
	return b.take(n)
}

// skip passes over a column with its children.
func (b *batch) skip(f *field) {
	b.next()
	if f.index != nil {
		b.take(2)
		return
	}
	b.take(f.buffers())
	if f.kind == kindBytesView || f.kind == kindTextView {
		b.extra()
	}
	for k := range f.children {
		b.skip(&f.children[k])
	}
}

// read reads a buffer, of at least so many bytes, and undoes its compression.
func (b *batch) read(s span, least int) []byte {
	if s.from < 0 || s.size < 0 || s.from > b.m.size-s.size {
		panic(errSize)
	}
	b.hold(s.size)
	data := make([]byte, s.size)
	if _, err := b.f.r.ReadAt(data, b.m.body+s.from); err != io.EOF {
		table.Check(err)
	}
	if b.compress && len(data) > 0 {
		data = b.unpack(data)
	}
	if len(data) < least {
		panic(errParts)
	}
	return data
}

// hold counts bytes that are about to be taken, or are given back.
func (b *batch) hold(n int64) {
	b.f.builder.Take(n, "a column of it")
	b.held += n
}

// unpack undoes the compression of a buffer, which begins with its size, or -1 where it is none. Room is made as data
// come, not for what the file says.
func (b *batch) unpack(data []byte) []byte {
	if len(data) < 8 {
		panic(errParts)
	}
	n := int64(binary.LittleEndian.Uint64(data))
	packed := data[8:]
	switch {
	case n == -1:
		return packed
	case n < 0:
		panic(errSize)
	}
	b.hold(n)
	var out []byte
	var err error
	if b.codec == codecZstd {
		out, err = unpack.Zstd(packed, n)
	} else {
		out, err = unpack.UpTo(lz4.NewReader(bytes.NewReader(packed)), n)
	}
	table.Check(err)
	if int64(len(out)) != n {
		panic(errors.New("a part of it has another size than it says"))
	}
	b.hold(-int64(len(data)))
	return out
}
