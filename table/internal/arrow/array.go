package arrow

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

// array are the cells of a column in a part of the rows, or those of a dictionary.
type array struct {
	n     int
	valid []byte // a bit for each, nil where none is missing
	put   func(b *table.Builder, j, k int)
}

// missing says whether cell k is.
func (a *array) missing(k int) bool { return a.valid != nil && a.valid[k>>3]>>(k&7)&1 == 0 }

// set puts cell k of the array into a table.
func (a *array) set(b *table.Builder, j, k int) {
	if !a.missing(k) && a.put != nil {
		a.put(b, j, k)
	}
}

var errLengths = errors.New("the texts of a column do not stand one after the other")

// array reads a column.
func (b *batch) array(f *field) *array {
	node := b.next()
	a := &array{n: size(node.rows, math.MaxInt32)}
	if f.index == nil && f.kind == kindNull {
		return a
	}
	count := f.buffers()
	if f.index != nil {
		count = 2
	}
	spans := b.take(count)
	if node.missing != 0 && spans[0].size > 0 {
		a.valid = b.read(spans[0], (a.n+7)/8)
	}
	switch {
	case f.index != nil:
		b.coded(a, f, spans[1])
	case f.kind == kindText || f.kind == kindLargeText:
		b.texts(a, f.kind == kindLargeText, spans[1], spans[2])
	case f.kind == kindTextView:
		b.textViews(a, spans[1])
	default:
		b.numbers(a, f, spans[1])
	}
	return a
}

// coded are places in a dictionary.
func (b *batch) coded(a *array, f *field, s span) {
	width := f.index.bits / 8
	data := b.read(s, a.n*width)
	parts := b.f.dictionaries[f.id]
	a.put = func(out *table.Builder, j, k int) {
		n := unpack.Integer(data[width*k:width*(k+1)], f.index.cell.Kind == unpack.Signed)
		for _, p := range parts {
			if n >= 0 && n < int64(p.n) {
				p.set(out, j, int(n))
				return
			}
			n -= int64(p.n)
		}
		panic(errOutside)
	}
}

// texts stand one after the other, with a list of where each begins.
func (b *batch) texts(a *array, large bool, where, data span) {
	width := 4
	if large {
		width = 8
	}
	if a.n == 0 {
		return
	}
	starts, text := b.read(where, (a.n+1)*width), b.read(data, 0)
	start := func(k int) int64 { return unpack.Integer(starts[width*k:width*(k+1)], true) }
	for k, last := 0, int64(0); k <= a.n; k++ {
		v := start(k)
		if v < last || v > int64(len(text)) {
			panic(errLengths)
		}
		last = v
	}
	a.put = func(out *table.Builder, j, k int) { out.Text(j, string(text[start(k):start(k+1)])) }
}

// textViews are 16 bytes for each text: how long it is, and itself, or the number of a buffer and where it begins
// there.
func (b *batch) textViews(a *array, where span) {
	spans, views := b.extra(), b.read(where, 16*a.n)
	texts := make([][]byte, len(spans))
	for k, s := range spans {
		texts[k] = b.read(s, 0)
	}
	const short = 12
	a.put = func(out *table.Builder, j, k int) {
		view := views[16*k : 16*k+16]
		n := int(int32(binary.LittleEndian.Uint32(view)))
		if n <= short {
			out.Text(j, string(view[4:4+n]))
			return
		}
		from := int(int32(binary.LittleEndian.Uint32(view[12:])))
		out.Text(j, string(texts[int32(binary.LittleEndian.Uint32(view[8:]))][from:from+n]))
	}
}

// numbers are all kinds of cells of one size.
func (b *batch) numbers(a *array, f *field, s span) {
	data, width, cell := b.read(s, (a.n*f.bits+7)/8), f.bits/8, f.cell
	a.put = func(out *table.Builder, j, k int) { cell.Put(out, j, data[width*k:width*(k+1)]) }
	if f.kind == kindBool {
		a.put = func(out *table.Builder, j, k int) { cell.Put(out, j, []byte{data[k>>3] >> (k & 7) & 1}) }
	}
}
