package parquet

import (
	"fmt"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

// put puts a value into a cell, as it is written one after the other.
type put func(b *table.Builder, j int, v []byte)

// putter says how the cells of a column are put into a table, nil for columns that are none of a table.
func putter(e *format.SchemaElement) put {
	if e.NumChildren.V > 0 || e.RepetitionType.V == format.Repeated {
		return nil
	}
	kind, c := e.Type.V, meaningOf(e)
	integer, fixed := kind == format.Int32 || kind == format.Int64, kind == format.FixedLenByteArray
	switch {
	case c.Kind == unpack.Decimal && (integer || fixed || kind == format.ByteArray):
		if c.Scale < 0 || c.Scale > unpack.MostScale {
			return nil
		}
		if !integer {
			return func(b *table.Builder, j int, v []byte) { // the highest byte comes first
				v = slices.Clone(v)
				slices.Reverse(v)
				c.Put(b, j, v)
			}
		}
	case c.Kind == aUUID && fixed:
		return func(b *table.Builder, j int, v []byte) {
			b.Text(j, fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]))
		}
	case c.Kind == unpack.Text && kind == format.ByteArray, c.Kind == unpack.Float && fixed && e.TypeLength.V == 2:
	case integer && (c.Kind == unpack.Moment || c.Kind == unpack.Span || c.Kind == unpack.Unsigned):
	case integer:
		c.Kind = unpack.Signed
	case kind == format.Float, kind == format.Double:
		c.Kind = unpack.Float
	case kind == format.Boolean:
		c.Kind = unpack.Bool
	case kind == format.Int96:
		return moments
	default:
		return nil
	}
	return c.Put
}

// width is the bytes of a value, of a text those of its length; 1 for a truth value, which has less.
func width(e *format.SchemaElement) int {
	switch e.Type.V {
	case format.Boolean:
		return 1
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return int(max(1, e.TypeLength.V))
	}
	return 4
}

// moments are nanoseconds of a day and its Julian number, as older programs write them.
func moments(b *table.Builder, j int, v []byte) {
	const julianEpoch, day = 2440588, 24 * 60 * 60
	days := unpack.Integer(v[8:12], false)
	b.Time(j, time.Unix((days-julianEpoch)*day, unpack.Integer(v[:8], true)).UTC())
}
