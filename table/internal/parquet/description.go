package parquet

import (
	"bufio"
	"io"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/table/internal/unpack"
)

// describe reads the end of a file, which says what it has.
func describe(r io.ReaderAt, size int64) (d format.FileMetaData) {
	from, n := unpack.Footer(r, size, magic)
	decode(bufio.NewReader(io.NewSectionReader(r, from, n)), n, memory.Default()/2, &d)
	return d
}

// aUUID is what no cell of other formats is.
const aUUID unpack.Kind = -1

// older are the meanings of values in files that have no others.
var older = map[deprecated.ConvertedType]unpack.Cell{
	deprecated.UTF8: {Kind: unpack.Text}, deprecated.Enum: {Kind: unpack.Text}, deprecated.Json: {Kind: unpack.Text},
	deprecated.Decimal: {Kind: unpack.Decimal}, deprecated.Date: {Kind: unpack.Moment},
	deprecated.TimeMillis:      {Kind: unpack.Span, Second: 1e3},
	deprecated.TimeMicros:      {Kind: unpack.Span, Second: 1e6},
	deprecated.TimestampMillis: {Kind: unpack.Moment, Second: 1e3},
	deprecated.TimestampMicros: {Kind: unpack.Moment, Second: 1e6},
	deprecated.Uint8:           {Kind: unpack.Unsigned}, deprecated.Uint16: {Kind: unpack.Unsigned},
	deprecated.Uint32: {Kind: unpack.Unsigned}, deprecated.Uint64: {Kind: unpack.Unsigned},
}

// meaningOf is what the values of a column stand for beyond their type, of no kind where that is all.
func meaningOf(e *format.SchemaElement) (c unpack.Cell) {
	perSecond := func(u format.TimeUnit) int64 { return int64(time.Second / u.Value.Duration()) }
	switch l := e.LogicalType.Value.(type) {
	case nil:
		if e.ConvertedType.Valid {
			c = older[e.ConvertedType.V]
			c.Scale = int(e.Scale.V)
		}
	case *format.StringType, *format.EnumType, *format.JsonType:
		c.Kind = unpack.Text
	case *format.DecimalType:
		c.Kind, c.Scale = unpack.Decimal, int(l.Scale)
	case *format.DateType:
		c.Kind = unpack.Moment
	case *format.TimeType:
		c.Kind, c.Second = unpack.Span, perSecond(l.Unit)
	case *format.TimestampType:
		c.Kind, c.Second = unpack.Moment, perSecond(l.Unit)
	case *format.IntType:
		if !l.IsSigned {
			c.Kind = unpack.Unsigned
		}
	case *format.UUIDType:
		c.Kind = aUUID
	case *format.Float16Type:
		c.Kind = unpack.Float
	}
	return c
}
