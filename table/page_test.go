package table_test

import (
	"encoding/binary"
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// A page of a Parquet file that says that it takes more bytes than there are numbers of 64 bits for, with those in the
// file, is refused: the budget does not grow by it, and sizes of pages have 32 bits.
func TestPageOfManyBytes(t *testing.T) {
	number := func(v int64) []byte { return binary.AppendVarint(nil, v) } // as Thrift's compact protocol has it
	join := func(parts ...any) (out []byte) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				out = append(out, p...)
			case []byte:
				out = append(out, p...)
			}
		}
		return out
	}
	file := func(size int64) []byte {
		data := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 7), 8)
		page := join("\x15\x00\x15", number(size), "\x15", number(int64(len(data))),
			"\x2c\x15\x04\x15\x00\x15\x06\x15\x06\x00\x00", data)
		length := number(int64(len(page)))
		footer := join("\x15\x02\x19\x2c", "\x48\x01s\x15\x02\x00", "\x15\x04\x25\x00\x18\x01a\x00", "\x16\x04\x19\x1c",
			"\x19\x1c\x26\x00\x1c\x15\x04\x19\x15\x00\x19\x18\x01a\x15\x00\x16\x04\x16", length, "\x16", length,
			"\x26\x08\x00\x00", "\x16", length, "\x16\x04\x00\x00")
		return join("PAR1", page, footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), "PAR1")
	}
	tab := must.Of(decodeKnown("f.parquet", file(16), ""))(t)
	require.Equal(t, [][]string{{"7"}, {"8"}}, cellsOf(t, tab))
	_, err := decodeKnown("f.parquet", file(math.MaxInt64), "")
	require.ErrorContains(t, err, "its description is damaged")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(16 << 20))
	_, err = decodeKnown("f.parquet", file(math.MaxInt32), "")
	require.ErrorContains(t, err, "f.parquet: a page of it does not fit into the budget of memory")
}
