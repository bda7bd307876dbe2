package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is what writers of version 1 call the encoding by a dictionary.
const plainDictionary format.Encoding = 2

// decode finds how the values of a page are read. What is damaged is found when they are, and panics.
func (c *cursor) decode(data []byte, encoding format.Encoding) {
	var one [8]byte
	switch encoding {
	case format.Plain:
		c.next = plain(data, c.column)
	case plainDictionary, format.RLEDictionary:
		if len(data) > 0 {
			r, words := &runs{data: data[1:], width: int(data[0])}, c.words
			c.next = func() []byte { return words(int(r.next())) }
		}
	case format.RLE: // of truth values
		r := &runs{data: data[4:], width: 1}
		c.next = func() []byte {
			one[0] = byte(r.next())
			return one[:1]
		}
	case format.DeltaBinaryPacked:
		list, _ := c.differences(data)
		c.next = func() []byte {
			binary.LittleEndian.PutUint64(one[:], uint64(list[0]))
			list = list[1:]
			return one[:c.column.width]
		}
	case format.DeltaLengthByteArray:
		c.texts(data)
	case format.DeltaByteArray: // how much a text shares with the one before, and the rest of it
		shared, data := c.differences(data)
		c.texts(data)
		rest := c.next
		var text []byte
		c.next = func() []byte {
			text = append(text[:shared[0]:shared[0]], rest()...)
			shared = shared[1:]
			return text
		}
	case format.ByteStreamSplit: // the first bytes of all values, then the second ones, and so on
		width := c.column.width
		n, k := len(data)/width, -1
		value := make([]byte, width)
		c.next = func() []byte {
			k++
			for i := range value {
				value[i] = data[i*n : (i+1)*n][k]
			}
			return value
		}
	default:
		panic(fmt.Errorf("its values are written in a way, %s, that is not read", encoding))
	}
}

// plain are values that stand one after the other.
func plain(data []byte, c *column) func() []byte {
	switch c.kind {
	case format.Boolean:
		k, bit := -1, make([]byte, 1)
		return func() []byte {
			k++
			bit[0] = data[k>>3] >> (k & 7) & 1
			return bit
		}
	case format.ByteArray:
		return func() (v []byte) {
			end := 4 + int64(binary.LittleEndian.Uint32(data))
			v, data = data[4:end], data[end:]
			return v
		}
	}
	return func() (v []byte) {
		v, data = data[:c.width], data[c.width:]
		return v
	}
}

// texts are those of a page whose sizes stand before them.
func (c *cursor) texts(data []byte) {
	sizes, data := c.differences(data)
	c.next = func() (v []byte) {
		v, data = data[:sizes[0]], data[sizes[0]:]
		sizes = sizes[1:]
		return v
	}
}

// runs are numbers of so many bits, the same one several times, or groups of eight.
type runs struct {
	data   []byte
	width  int
	left   uint64 // of the run
	packed []byte // of a run of groups, nil for the same one
	at     int    // the next bit of packed
	same   uint64
}

// next is the next number; it panics where there is none.
func (r *runs) next() uint64 {
	for r.left == 0 {
		head, k := binary.Uvarint(r.data)
		if k <= 0 || r.width > 32 {
			panic(errPage)
		}
		r.data = r.data[k:]
		n := (r.width + 7) / 8
		if r.left = head >> 1; head&1 == 0 {
			r.packed, r.same = nil, bitsAt(r.data[:n], 0, r.width)
			r.data = r.data[n:]
			continue
		}
		if groups := r.left; r.width > 0 {
			n = int(min(groups, uint64(len(r.data))) * uint64(r.width)) // the last one may be cut
		} else {
			n = 0
		}
		n = min(n, len(r.data))
		r.packed, r.data, r.at, r.left = r.data[:n:n], r.data[n:], 0, 8*min(r.left, 1<<60)
	}
	r.left--
	if r.packed == nil {
		return r.same
	}
	v := bitsAt(r.packed, r.at, r.width)
	r.at += r.width
	return v
}

// differences are numbers whose differences stand in small blocks, of so many bits each (the encoding
// DELTA_BINARY_PACKED), and what follows them.
func (c *cursor) differences(data []byte) (list []int64, rest []byte) {
	number := func() uint64 {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			panic(errPage)
		}
		data = data[size:]
		return n
	}
	const mostBlock = 1 << 16
	block, blocks, n, v := number(), number(), number(), zigzag(number())
	if n > uint64(c.values) || block > mostBlock || blocks > mostBlock {
		panic(errPage)
	}
	c.hold(8 * int64(n))
	switch {
	case n == 0:
		return nil, data
	case blocks == 0 || block < blocks || block%(8*blocks) != 0:
		panic(errPage)
	}
	each, small := int(block/blocks), int(blocks)
	list = append(make([]int64, 0, n), v)
	for len(list) < int(n) {
		least := zigzag(number())
		widths := data[:small]
		data = data[small:]
		for _, width := range widths {
			if len(list) == int(n) {
				break
			}
			if width > 64 {
				panic(errPage)
			}
			packed := data[:min(len(data), each*int(width)/8)] // the last one may be cut
			data = data[len(packed):]
			for k := range min(each, int(n)-len(list)) {
				v += least + int64(bitsAt(packed, k*int(width), int(width)))
				list = append(list, v)
			}
		}
	}
	return list, data
}

// bitsAt are so many bits from a place on, the lowest first; those beyond the end are zero.
func bitsAt(data []byte, at, width int) (v uint64) {
	const whole = 57 // bits that a word has from any bit of its first byte on
	if place := at / 8; width <= whole && place+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[place:]) >> (at % 8) & (1<<width - 1)
	}
	for k := 0; k < width; {
		place := at + k
		if place/8 >= len(data) {
			break
		}
		v |= uint64(data[place/8]>>(place%8)) << k
		k += 8 - place%8
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// zigzag undoes the order 0, -1, 1, -2, .. of integers.
func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
