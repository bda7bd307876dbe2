package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/pierrec/lz4/v4"

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
func (f *file) next(at int64) (*message, error) {
	const most = 1 << 30
	var first [8]byte
	if at >= f.end {
		return nil, nil
	}
	switch k, err := f.r.ReadAt(first[:min(8, f.end-at)], at); {
	case err != nil && err != io.EOF:
		return nil, err
	case k < 4:
		return nil, io.ErrUnexpectedEOF
	}
	n, prefix := int64(binary.LittleEndian.Uint32(first[:])), int64(4)
	if n == continues {
		n, prefix = int64(binary.LittleEndian.Uint32(first[4:])), 8
	}
	switch {
	case n == 0:
		return nil, nil
	case n > most || at > f.end-prefix-n:
		return nil, io.ErrUnexpectedEOF
	case n > f.budget:
		return nil, f.tooLarge()
	}
	head := make([]byte, n)
	if _, err := f.r.ReadAt(head, at+prefix); err != nil && err != io.EOF {
		return nil, err
	}
	o := root(head)
	m := &message{head: o.object(2), kind: o.byte(1, 0), body: at + prefix + n, size: o.long(3)}
	if m.size < 0 || m.size > f.end-m.body {
		return nil, errSize
	}
	return m, nil
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
func (f *file) open(m *message, o object) (*batch, error) {
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
			return nil, fmt.Errorf("it is compressed in a way, %d, that is not known", b.codec)
		}
	}
	from, n = o.list(4, 8)
	for i := range n {
		b.views = append(b.views, o.longAt(from+8*i))
	}
	return b, nil
}

var errParts = errors.New("a part of the rows lacks some of a column")

// next is the next node.
func (b *batch) next() (node, error) {
	if len(b.nodes) == 0 {
		return node{}, errParts
	}
	n := b.nodes[0]
	b.nodes = b.nodes[1:]
	return n, nil
}

// take are the next buffers, as they stand in the file.
func (b *batch) take(n int) ([]span, error) {
	if n > len(b.buffers) {
		return nil, errParts
	}
	list := b.buffers[:n]
	b.buffers = b.buffers[n:]
	return list, nil
}

// extra are the further buffers of a column of views.
func (b *batch) extra() ([]span, error) {
	if len(b.views) == 0 {
		return nil, errParts
	}
	n := size(b.views[0], int64(len(b.buffers)))
	b.views = b.views[1:]
	return b.take(n)
}

// skip passes over a column with its children.
func (b *batch) skip(f *field) error {
	if _, err := b.next(); err != nil {
		return err
	}
	n := f.buffers()
	if f.index != nil {
		n = 2
	}
	if _, err := b.take(n); err != nil {
		return err
	}
	if f.index != nil {
		return nil
	}
	if f.kind == kindBytesView || f.kind == kindTextView {
		if _, err := b.extra(); err != nil {
			return err
		}
	}
	for k := range f.children {
		if err := b.skip(&f.children[k]); err != nil {
			return err
		}
	}
	return nil
}

// read reads a buffer, of at least so many bytes, and undoes its compression.
func (b *batch) read(s span, least int) ([]byte, error) {
	if s.from < 0 || s.size < 0 || s.from > b.m.size-s.size {
		return nil, errSize
	}
	if err := b.hold(s.size); err != nil {
		return nil, err
	}
	data := make([]byte, s.size)
	if _, err := b.f.r.ReadAt(data, b.m.body+s.from); err != nil && err != io.EOF {
		return nil, err
	}
	if b.compress && len(data) > 0 {
		var err error
		if data, err = b.unpack(data); err != nil {
			return nil, err
		}
	}
	if len(data) < least {
		return nil, errParts
	}
	return data, nil
}

// hold counts bytes that are about to be taken, or are given back.
func (b *batch) hold(n int64) error {
	if n > b.f.budget {
		return b.f.tooLarge()
	}
	b.held += n
	return b.f.builder.Take(n)
}

// unpack undoes the compression of a buffer, which begins with its size, or -1 where it is none. Room is made as data come, not for what the file says.
func (b *batch) unpack(data []byte) ([]byte, error) {
	if len(data) < 8 {
		return nil, errParts
	}
	n := int64(binary.LittleEndian.Uint64(data))
	packed := data[8:]
	switch {
	case n == -1:
		return packed, nil
	case n < 0:
		return nil, errSize
	}
	if err := b.hold(n); err != nil {
		return nil, err
	}
	var out []byte
	var err error
	if b.codec == codecZstd {
		out, err = unpack.Zstd(packed, n)
	} else {
		out, err = unpack.UpTo(lz4.NewReader(bytes.NewReader(packed)), n)
	}
	if err == nil && int64(len(out)) != n {
		err = errors.New("a part of it has another size than it says")
	}
	if err != nil {
		return nil, err
	}
	return out, b.hold(-int64(len(data)))
}
