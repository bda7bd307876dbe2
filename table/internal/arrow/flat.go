package arrow

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/conetune/conetune/table/internal/unpack"
)

// FlatBuffers, as far as the descriptions in Arrow files need them (https://flatbuffers.dev/internals): a table begins
// with the distance back to a list of where its fields stand, and a field that is no number is the distance on to it.
// What points outside of the data panics, which the reader of formats of package table takes for damage.

// object is a table of FlatBuffers; without data it has no fields.
type object struct {
	data []byte
	at   int
}

// root is the first table.
func root(data []byte) object {
	return object{data, int(binary.LittleEndian.Uint32(data))}
}

// errOutside is what panics.
var errOutside = errors.New("its description points outside of itself")

// field is where field k stands, 0 for nowhere.
func (o object) field(k int) int {
	if o.data == nil {
		return 0
	}
	list := o.at - int(int32(binary.LittleEndian.Uint32(o.data[o.at:])))
	size := int(binary.LittleEndian.Uint16(o.data[list:]))
	if entry := 4 + 2*k; entry+2 <= size {
		if from := int(binary.LittleEndian.Uint16(o.data[list+entry:])); from > 0 {
			return o.at + from
		}
	}
	return 0
}

// number is an integer of so many bytes with a sign, or what it is where the file leaves it out.
func (o object) number(k, bytes int, otherwise int64) int64 {
	if at := o.field(k); at > 0 {
		return unpack.Integer(o.data[at:at+bytes], true)
	}
	return otherwise
}

// byte, short, integer and long are numbers of 1, 2, 4 and 8 bytes.
func (o object) byte(k int, otherwise uint8) uint8    { return uint8(o.number(k, 1, int64(otherwise))) }
func (o object) short(k int, otherwise int16) int16   { return int16(o.number(k, 2, int64(otherwise))) }
func (o object) integer(k int, otherwise int32) int32 { return int32(o.number(k, 4, int64(otherwise))) }
func (o object) long(k int) int64                     { return o.number(k, 8, 0) }

// follow is where the distance at a place leads.
func (o object) follow(at int) int {
	to := uint64(at) + uint64(binary.LittleEndian.Uint32(o.data[at:]))
	if to >= uint64(len(o.data)) {
		panic(errOutside)
	}
	return int(to)
}

// object is a table, without data where it is missing.
func (o object) object(k int) object {
	if at := o.field(k); at > 0 {
		return object{o.data, o.follow(at)}
	}
	return object{}
}

// text is a string.
func (o object) text(k int) string {
	from, n := o.list(k, 1)
	if n == 0 {
		return ""
	}
	return string(o.data[from : from+n])
}

// list is where a list of items of a size begins, and how many there are.
func (o object) list(k, size int) (from, n int) {
	at := o.field(k)
	if at == 0 {
		return 0, 0
	}
	from = o.follow(at)
	count := uint64(binary.LittleEndian.Uint32(o.data[from:]))
	from += 4
	if count*uint64(size) > uint64(len(o.data)-from) {
		panic(errOutside)
	}
	return from, int(count)
}

// longAt is a number of a list of structures.
func (o object) longAt(at int) int64 { return int64(binary.LittleEndian.Uint64(o.data[at:])) }

// size is a number of bytes or items, which is no more than most.
func size(v, most int64) int {
	if v < 0 || v > most || v > math.MaxInt {
		panic(errSize)
	}
	return int(v)
}

// errSize is what panics.
var errSize = errors.New("a part of it says that it is larger than the file")
