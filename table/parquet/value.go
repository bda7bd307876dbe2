package parquet

import (
	"encoding/binary"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/conetune/conetune/table"
)

// halvesOf are the names of the columns of numbers of 16 bits, which package parquet takes for bytes.
func halvesOf(f *parquet.File) map[string]bool {
	halves := map[string]bool{}
	for _, e := range f.Metadata().Schema {
		if _, ok := e.LogicalType.Value.(*format.Float16Type); ok {
			halves[e.Name] = true
		}
	}
	return halves
}

// putter says how the cells of a column are put into a table, nil for columns that are none of a table. Halves are the names of those of 16 bits.
func putter(c *parquet.Column, halves map[string]bool) func(b *table.Builder, i, j int, v parquet.Value) {
	if !c.Leaf() || c.Repeated() {
		return nil
	}
	kind := c.Type().Kind()
	integer := kind == parquet.Int32 || kind == parquet.Int64
	if logical := c.Type().LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *format.StringType, *format.EnumType, *format.JsonType:
			return texts
		case *format.DecimalType:
			return decimals(int(l.Scale), integer)
		case *format.DateType:
			return func(b *table.Builder, i, j int, v parquet.Value) { b.Moment(i, j, whole(v)*24*60*60, 1) }
		case *format.TimestampType:
			unit := perSecond(l.Unit)
			return func(b *table.Builder, i, j int, v parquet.Value) { b.Moment(i, j, whole(v), unit) }
		case *format.TimeType:
			unit := float64(perSecond(l.Unit))
			return func(b *table.Builder, i, j int, v parquet.Value) { b.Number(i, j, integerOf(v)/unit) }
		case *format.IntType:
			if !l.IsSigned {
				return unsigned
			}
		case *format.UUIDType:
			return func(b *table.Builder, i, j int, v parquet.Value) { b.Text(i, j, v.String()) }
		}
	}
	if halves[c.Name()] && kind == parquet.FixedLenByteArray && c.Type().Length() == 2 {
		return half
	}
	switch kind {
	case parquet.Boolean:
		return func(b *table.Builder, i, j int, v parquet.Value) { b.Bool(i, j, v.Boolean()) }
	case parquet.Int32, parquet.Int64:
		return func(b *table.Builder, i, j int, v parquet.Value) { b.Number(i, j, integerOf(v)) }
	case parquet.Int96:
		return moments
	case parquet.Float:
		return func(b *table.Builder, i, j int, v parquet.Value) { b.Float32(i, j, v.Float()) }
	case parquet.Double:
		return func(b *table.Builder, i, j int, v parquet.Value) { b.Number(i, j, v.Double()) }
	}
	return nil
}

func whole(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func integerOf(v parquet.Value) float64 { return float64(whole(v)) }

func texts(b *table.Builder, i, j int, v parquet.Value) { b.Text(i, j, string(v.ByteArray())) }

func unsigned(b *table.Builder, i, j int, v parquet.Value) {
	if v.Kind() == parquet.Int32 {
		b.Number(i, j, float64(v.Uint32()))
		return
	}
	b.Number(i, j, float64(v.Uint64()))
}

// decimals are integers divided by a power of ten, as numbers or in big-endian bytes of two's complement.
func decimals(scale int, integer bool) func(b *table.Builder, i, j int, v parquet.Value) {
	if scale < 0 || scale > table.MostScale {
		return nil
	}
	return func(b *table.Builder, i, j int, v parquet.Value) {
		bytes := v.ByteArray()
		if integer {
			bytes = binary.BigEndian.AppendUint64(nil, uint64(whole(v)))
		}
		b.Decimal(i, j, bytes, scale)
	}
}

// perSecond is how many of a unit of time are a second.
func perSecond(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 1e3
	case *format.MicroSeconds:
		return 1e6
	}
	return 1e9
}

// moments are nanoseconds of a day and its Julian number, as older programs write them.
func moments(b *table.Builder, i, j int, v parquet.Value) {
	const julianEpoch, day = 2440588, 24 * 60 * 60
	n := v.Int96()
	nanoseconds := int64(uint64(n[1])<<32 | uint64(n[0]))
	b.Time(i, j, time.Unix((int64(n[2])-julianEpoch)*day, nanoseconds).UTC())
}

// half is a number of 16 bits.
func half(b *table.Builder, i, j int, v parquet.Value) {
	bytes := v.ByteArray()
	if len(bytes) != 2 {
		return
	}
	b.Float16(i, j, binary.LittleEndian.Uint16(bytes))
}
