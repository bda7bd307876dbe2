package parquet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

// put puts a value into a cell, as it is written one after the other.
type put func(b *table.Builder, j int, v []byte)

// putter says how the cells of a column are put into a table, nil for columns that are none of a table.
func (e *element) putter() put {
	if e.children > 0 || e.repeats == repeated {
		return nil
	}
	integer := e.kind == int32s || e.kind == int64s
	c := &unpack.Cell{Scale: int(e.scale), Second: e.second}
	switch {
	case e.meaning == aText && e.kind == byteArray:
		c.Kind = unpack.Text
	case e.meaning == aDecimal && (integer || e.kind == byteArray || e.kind == fixedArray):
		if e.scale < 0 || e.scale > unpack.MostScale {
			return nil
		}
		if c.Kind = unpack.Decimal; !integer {
			return func(b *table.Builder, j int, v []byte) { // the highest byte comes first
				v = slices.Clone(v)
				slices.Reverse(v)
				c.Put(b, j, v)
			}
		}
	case e.meaning == aDate && integer:
		c.Kind, c.Second = unpack.Moment, 0
	case e.meaning == aMoment && integer && e.second > 0:
		c.Kind = unpack.Moment
	case e.meaning == aTime && integer && e.second > 0:
		c.Kind = unpack.Span
	case e.meaning == unsigned && integer:
		c.Kind = unpack.Unsigned
	case e.meaning == aUUID && e.kind == fixedArray:
		return func(b *table.Builder, j int, v []byte) {
			b.Text(j, fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]))
		}
	case e.meaning == aHalf && e.kind == fixedArray && e.length == 2, e.kind == floats, e.kind == doubles:
		c.Kind = unpack.Float
	case e.kind == boolean:
		c.Kind = unpack.Bool
	case integer:
		c.Kind = unpack.Signed
	case e.kind == int96s:
		return moments
	default:
		return nil
	}
	return c.Put
}

// width is the bytes of a value, of a text those of its length; 1 for a truth value, which has less.
func (e *element) width() int {
	switch e.kind {
	case boolean:
		return 1
	case int64s, doubles:
		return 8
	case int96s:
		return 12
	case fixedArray:
		return int(min(max(1, e.length), math.MaxInt32))
	}
	return 4
}

// moments are nanoseconds of a day and its Julian number, as older programs write them.
func moments(b *table.Builder, j int, v []byte) {
	const julianEpoch, day = 2440588, 24 * 60 * 60
	days := unpack.Integer(v[8:12], false)
	b.Time(j, time.Unix((days-julianEpoch)*day, unpack.Integer(v[:8], true)).UTC())
}
