package arrow

import (
	"errors"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

// kind is the type of a column, as the schema numbers them; those that stand here are told from others.
type kind uint8

const (
	kindNull       kind = 1
	kindInt        kind = 2
	kindFloat      kind = 3
	kindBinary     kind = 4
	kindText       kind = 5
	kindBool       kind = 6
	kindDecimal    kind = 7
	kindDate       kind = 8
	kindTime       kind = 9
	kindTimestamp  kind = 10
	kindStruct     kind = 13
	kindUnion      kind = 14
	kindFixedList  kind = 16
	kindDuration   kind = 18
	kindLargeBytes kind = 19
	kindLargeText  kind = 20
	kindRuns       kind = 22
	kindBytesView  kind = 23
	kindTextView   kind = 24
	kindListView   kind = 25
	kindLargeViews kind = 26
)

// field is a column of the schema.
type field struct {
	name     string
	kind     kind
	bits     int // of a cell
	cell     unpack.Cell
	dense    bool   // of unions
	index    *field // of a dictionary, nil without
	id       int64  // of the dictionary
	children []field
}

// mostFields and mostDepth bound a schema: one part of it may stand for many. fieldBytes is what a column takes in
// memory, beside its name.
const mostFields, mostDepth, fieldBytes = 1 << 20, 64, 512

var errSchema = errors.New("its columns stand in each other too often")

// schemaReader reads the columns, as many as there is room for.
type schemaReader struct {
	builder *table.Builder
	fields  int // that may come
	names   int // the bytes of their names that may come
}

// schema reads the columns.
func schema(o object, b *table.Builder) []field {
	if o.data == nil || o.short(0, 0) != 0 {
		panic(errors.New("its numbers are not written in the order of bytes that is read, or it has no schema"))
	}
	const shared = 4 // columns may have their names in common
	r := &schemaReader{b, mostFields, shared * len(o.data)}
	return r.read(o, 1, 0)
}

// read reads list k of a table.
func (r *schemaReader) read(parent object, k, depth int) (out []field) {
	from, n := parent.list(k, 4)
	for i := range n {
		o := object{parent.data, parent.follow(from + 4*i)}
		f := field{name: o.text(0), kind: kind(o.byte(2, 0))}
		r.fields--
		r.names -= len(f.name)
		if r.fields < 0 || r.names < 0 || depth > mostDepth {
			panic(errSchema)
		}
		r.builder.Take(fieldBytes, "")
		f.typed(o.object(3))
		if d := o.object(4); d.data != nil {
			f.id = d.long(0)
			index := field{kind: kindInt, bits: 32, cell: unpack.Cell{Kind: unpack.Signed}}
			if t := d.object(1); t.data != nil {
				index.typed(t)
			}
			f.index = &index
		}
		f.children = r.read(o, 5, depth+1)
		out = append(out, f)
	}
	return out
}

// perSecond are the units of times.
var perSecond = []int64{1, 1e3, 1e6, 1e9}

func unit(v int16) int64 {
	if v < 0 || int(v) >= len(perSecond) {
		panic(errOutside)
	}
	return perSecond[v]
}

// typed reads what the type of a column says of it.
func (f *field) typed(t object) {
	f.bits = 64
	switch f.kind {
	case kindInt:
		if f.bits, f.cell.Kind = int(t.integer(0, 0)), unpack.Unsigned; t.byte(1, 0) != 0 {
			f.cell.Kind = unpack.Signed
		}
	case kindFloat:
		f.bits, f.cell.Kind = 16<<min(max(t.short(0, 0), 0), 2), unpack.Float
	case kindBool:
		f.bits, f.cell.Kind = 1, unpack.Bool
	case kindDecimal:
		f.bits, f.cell = int(t.integer(2, 128)), unpack.Cell{Kind: unpack.Decimal, Scale: int(t.integer(1, 0))}
	case kindDate:
		if f.cell.Kind = unpack.Moment; t.short(0, 1) != 0 {
			f.cell.Second = 1e3
		} else {
			f.bits = 32
		}
	case kindTime:
		f.bits, f.cell = int(t.integer(1, 32)), unpack.Cell{Kind: unpack.Span, Second: unit(t.short(0, 1))}
	case kindTimestamp:
		f.cell = unpack.Cell{Kind: unpack.Moment, Second: unit(t.short(0, 0))}
	case kindDuration:
		f.cell = unpack.Cell{Kind: unpack.Span, Second: unit(t.short(0, 1))}
	case kindUnion:
		f.dense = t.short(0, 0) == 1
	}
}

// readable says whether a column can be one of a table.
func (f *field) readable() bool {
	whole := func(bits int) bool { return bits == 8 || bits == 16 || bits == 32 || bits == 64 }
	if f.index != nil && !whole(f.index.bits) {
		return false
	}
	switch f.kind {
	case kindInt:
		return whole(f.bits)
	case kindTime:
		return f.bits == 32 || f.bits == 64
	case kindDecimal:
		const most = unpack.MostScale
		return f.bits >= 32 && (whole(f.bits) || f.bits == 128 || f.bits == 256) &&
			-most <= f.cell.Scale && f.cell.Scale <= most
	case kindNull, kindFloat, kindText, kindLargeText, kindTextView, kindBool, kindDate, kindTimestamp, kindDuration:
		return true
	}
	return false
}

// buffers is how many of its own a column has in a part of the rows, apart from those of its children; views have as
// many more as the part says.
func (f *field) buffers() int {
	switch f.kind {
	case kindNull, kindRuns:
		return 0
	case kindStruct, kindFixedList:
		return 1
	case kindUnion:
		if f.dense {
			return 2
		}
		return 1
	case kindBinary, kindText, kindLargeBytes, kindLargeText, kindListView, kindLargeViews:
		return 3
	}
	return 2
}
