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
type put func(b *table.Builder, i, j int, v []byte)

// putter says how the cells of a column are put into a table, nil for columns that are none of a table.
func (e *element) putter() put {
	if e.children > 0 || e.repeats == repeated {
		return nil
	}
	integer := e.kind == int32s || e.kind == int64s
	second := e.second
	switch {
	case e.meaning == aText && e.kind == byteArray:
		return func(b *table.Builder, i, j int, v []byte) { b.Text(i, j, string(v)) }
	case e.meaning == aDecimal && (integer || e.kind == byteArray || e.kind == fixedArray):
		return decimals(int(e.scale), integer)
	case e.meaning == aDate && integer:
		return func(b *table.Builder, i, j int, v []byte) { b.Moment(i, j, whole(v)*24*60*60, 1) }
	case e.meaning == aMoment && integer && second > 0:
		return func(b *table.Builder, i, j int, v []byte) { b.Moment(i, j, whole(v), second) }
	case e.meaning == aTime && integer && second > 0:
		return func(b *table.Builder, i, j int, v []byte) { b.Number(i, j, float64(whole(v))/float64(second)) }
	case e.meaning == unsigned && e.kind == int32s:
		return func(b *table.Builder, i, j int, v []byte) { b.Number(i, j, float64(uint32(whole(v)))) }
	case e.meaning == unsigned && e.kind == int64s:
		return func(b *table.Builder, i, j int, v []byte) { b.Number(i, j, float64(uint64(whole(v)))) }
	case e.meaning == aUUID && e.kind == fixedArray:
		return func(b *table.Builder, i, j int, v []byte) {
			b.Text(i, j, fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]))
		}
	case e.meaning == aHalf && e.kind == fixedArray && e.length == 2:
		return func(b *table.Builder, i, j int, v []byte) { b.Float16(i, j, uint16(whole(v))) }
	}
	switch e.kind {
	case boolean:
		return func(b *table.Builder, i, j int, v []byte) { b.Bool(i, j, v[0] != 0) }
	case int32s, int64s:
		return func(b *table.Builder, i, j int, v []byte) { b.Number(i, j, float64(whole(v))) }
	case int96s:
		return moments
	case floats:
		return func(b *table.Builder, i, j int, v []byte) {
			b.Float32(i, j, math.Float32frombits(uint32(whole(v))))
		}
	case doubles:
		return func(b *table.Builder, i, j int, v []byte) {
			b.Number(i, j, math.Float64frombits(uint64(whole(v))))
		}
	}
	return nil
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

// whole is an integer with a sign.
func whole(v []byte) int64 { return unpack.Integer(v, true) }

// decimals are integers over a power of ten: numbers, or bytes of two's complement of which the highest comes first.
func decimals(scale int, integer bool) put {
	if scale < 0 || scale > table.MostScale {
		return nil
	}
	return func(b *table.Builder, i, j int, v []byte) {
		if integer {
			v = slices.Clone(v)
			slices.Reverse(v)
		}
		b.Decimal(i, j, v, scale)
	}
}

// moments are nanoseconds of a day and its Julian number, as older programs write them.
func moments(b *table.Builder, i, j int, v []byte) {
	const julianEpoch, day = 2440588, 24 * 60 * 60
	days := unpack.Integer(v[8:12], false)
	b.Time(i, j, time.Unix((days-julianEpoch)*day, whole(v[:8])).UTC())
}
