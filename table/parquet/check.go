package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// checkPages goes through the pages of a part of a column before the library reads them, which makes room for as many values as a page says that it has: a page
// may not say more than it holds, nor more than the part of the file. It returns what the largest page and the dictionary take in memory, at most the budget.
func checkPages(r io.ReaderAt, size int64, data *format.ColumnMetaData, c *column, budget int64) (held int64, err error) {
	from := data.DataPageOffset
	if data.DictionaryPageOffset > 0 && data.DictionaryPageOffset < from {
		from = data.DictionaryPageOffset
	}
	if from < 0 || data.TotalCompressedSize < 0 || from > size-data.TotalCompressedSize {
		return 0, errors.New("a column of it stands outside of the file")
	}
	rest := io.NewSectionReader(r, from, data.TotalCompressedSize)
	page, dictionary := int64(0), int64(0)
	for values, at := int64(0), int64(0); values < data.NumValues; {
		head, n, err := headOf(rest, at)
		if err != nil {
			return 0, err
		}
		at += n
		packed := int64(head.CompressedPageSize)
		if packed < 0 || packed > data.TotalCompressedSize-at || head.UncompressedPageSize < 0 {
			return 0, fmt.Errorf("a page says that it has %d bytes", packed)
		}
		p := pageCheck{head: head, column: c, codec: data.Codec, left: data.NumValues - values}
		if p.held = packed + int64(head.UncompressedPageSize); p.held > budget {
			return 0, errBudget
		}
		p.data = make([]byte, packed)
		if _, err := rest.ReadAt(p.data, at); err != nil && err != io.EOF {
			return 0, err
		}
		at += packed
		if n, err = p.values(); err != nil {
			return 0, err
		}
		values += n
		if head.Type == format.DictionaryPage {
			dictionary = max(dictionary, p.held)
		} else {
			page = max(page, p.held)
		}
		if page+dictionary > budget {
			return 0, errBudget
		}
	}
	return page + dictionary, nil
}

// errBudget says that a page does not fit.
var errBudget = errors.New("a page is larger than the budget of memory")

// headOf reads the head of a page, and how long it is: most are short, but it may have texts.
func headOf(r *io.SectionReader, at int64) (*format.PageHeader, int64, error) {
	const short, long = 4 << 10, 16 << 20
	var failed error
	for _, n := range []int64{short, long} {
		room := make([]byte, max(0, min(n, r.Size()-at)))
		if _, err := r.ReadAt(room, at); err != nil && err != io.EOF {
			return nil, 0, err
		}
		seen := compact{data: room}
		if failed = seen.structure(0); failed == nil {
			source := bytes.NewReader(room)
			head := &format.PageHeader{}
			var protocol thrift.CompactProtocol
			if failed = thrift.NewDecoder(protocol.NewReader(source)).Decode(head); failed == nil {
				return head, int64(len(room) - source.Len()), nil
			}
		}
		if int64(len(room)) < n {
			break
		}
	}
	return nil, 0, failed
}

// pageCheck is a page as the file has it.
type pageCheck struct {
	head   *format.PageHeader
	data   []byte
	column *column
	codec  format.CompressionCodec
	left   int64 // values that it may have
	held   int64 // what it takes in memory
}

var errRuns = errors.New("the runs of a page have more values than the page")

// values is how many a page has, once it was found not to say more.
func (p *pageCheck) values() (int64, error) {
	size := int64(p.head.UncompressedPageSize)
	switch p.head.Type {
	case format.DataPage:
		h := p.head.DataPageHeader.V
		if err := p.count(int64(h.NumValues)); err != nil {
			return 0, err
		}
		data, err := unpacked(p.codec, p.data, size)
		if err != nil {
			return 0, err
		}
		there := int64(h.NumValues) // but for those that are missing
		if p.column.optional {
			if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
				return 0, errRuns
			}
			n := int(binary.LittleEndian.Uint32(data))
			if !runs(data[4:4+n], 1, int64(h.NumValues)) {
				return 0, errRuns
			}
			there = present(data[4:4+n], there)
			data = data[4+n:]
		}
		return int64(h.NumValues), p.encoded(data, h.Encoding, there)
	case format.DataPageV2:
		h := p.head.DataPageHeaderV2.V
		if err := p.count(int64(h.NumValues)); err != nil {
			return 0, err
		}
		levels := int64(h.DefinitionLevelsByteLength)
		if levels < 0 || h.RepetitionLevelsByteLength != 0 || levels > int64(len(p.data)) || !runs(p.data[:levels], 1, int64(h.NumValues)) {
			return 0, errRuns
		}
		data := p.data[levels:]
		if (!h.IsCompressed.Valid || h.IsCompressed.V) && len(data) > 0 {
			var err error
			if data, err = unpacked(p.codec, data, size-levels); err != nil {
				return 0, err
			}
		}
		there := int64(h.NumValues)
		if p.column.optional {
			there = present(p.data[:levels], there)
		}
		return int64(h.NumValues), p.encoded(data, h.Encoding, there)
	case format.DictionaryPage:
		data, err := unpacked(p.codec, p.data, size)
		if err != nil {
			return 0, err
		}
		n := int64(p.head.DictionaryPageHeader.V.NumValues)
		if n < 0 || n > int64(len(data))/p.column.width {
			return 0, fmt.Errorf("a dictionary of %d bytes says that it has %d values", len(data), n)
		}
		p.held += int64(len(data)) + wordBytes*n
		return 0, p.encoded(data, format.Plain, n)
	default: // which the library passes over
		return 0, nil
	}
}

// wordBytes is what a value takes beside its text: where it begins, or its place in the dictionary, and its level.
const wordBytes = 9

// count counts the values of a page.
func (p *pageCheck) count(n int64) error {
	if n < 0 || n > p.left {
		return fmt.Errorf("a page says that it has %d values", n)
	}
	p.held += (wordBytes + p.column.width) * n // both are less than 2^31
	return nil
}

// oldDictionary is RLEDictionary as the first version of the format had it.
const oldDictionary format.Encoding = 2

// encoded says whether the values of a page are as many as there should be, as far as their encoding says how many they are: the library prints where texts are not.
func (p *pageCheck) encoded(data []byte, encoding format.Encoding, values int64) error {
	ok := true
	switch encoding {
	case format.Plain:
		ok = !p.column.text || plainTexts(data) == values
	case oldDictionary, format.RLEDictionary:
		ok = len(data) == 0 || data[0] <= 32 && runs(data[1:], int(data[0]), values)
	case format.RLE:
		ok = len(data) >= 4 && runs(data[4:], 1, values)
	case format.DeltaBinaryPacked:
		_, ok = differences(data, values, func(int64) bool { return true })
	case format.DeltaLengthByteArray:
		ok = p.texts(data, 1, values)
	case format.DeltaByteArray: // what a text shares with the one before, and the rest of it
		ok = p.texts(data, 2, values)
	}
	if !ok {
		return errRuns
	}
	return nil
}

// plainTexts is how many texts stand one after the other, each after its length; -1 where the last one is cut.
func plainTexts(data []byte) (n int64) {
	for ; len(data) > 0; n++ {
		if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
			return -1
		}
		data = data[4+binary.LittleEndian.Uint32(data):]
	}
	return n
}

// present is how many of the values are there, by runs of levels of one bit that were found not to be too long.
func present(levels []byte, values int64) (n int64) {
	for len(levels) > 0 && values > 0 {
		head, k := binary.Uvarint(levels)
		levels = levels[k:]
		run := int64(head >> 1)
		if head&1 == 0 { // one value, repeated
			if len(levels) > 0 {
				n += int64(levels[0]&1) * min(run, values)
				levels = levels[1:]
			}
			values -= run
			continue
		}
		for range run { // of eight each
			if len(levels) == 0 {
				return n
			}
			n += int64(bits.OnesCount8(levels[0] & (1<<min(8, max(values, 0)) - 1)))
			levels, values = levels[1:], values-8
		}
	}
	return n
}

// texts counts those of a page, whose lengths come first, as so many lists of differences.
func (p *pageCheck) texts(data []byte, lists int, values int64) (ok bool) {
	for range lists {
		add := func(length int64) bool {
			p.held += max(length, 0)
			return 0 <= length && length <= math.MaxInt32 && p.held < math.MaxInt64/4
		}
		if data, ok = differences(data, values, add); !ok {
			return false
		}
	}
	return true
}

// runs says whether runs of values of so many bits, repeated or packed by eight, are no more than the values. What follows them is no run of the page, but the
// library reads it as such: it may be as long again.
func runs(data []byte, width int, values int64) bool {
	left, beyond := values+7, false
	for len(data) > 0 {
		if left <= 7 && !beyond {
			left, beyond = values+7, true
		}
		head, k := binary.Uvarint(data)
		if k <= 0 || head>>1 > uint64(left) {
			return false
		}
		n, size := int64(head>>1), int64(width+7)/8
		if head&1 == 1 {
			n, size = 8*n, n*int64(width)
		}
		if left -= n; left < 0 {
			return false
		}
		data = data[min(int64(len(data)), int64(k)+size):]
	}
	return true
}

// differences goes through values as their differences, of at most so many bits in each small block (Parquet's encoding DELTA_BINARY_PACKED), and returns what follows them. False
// means that they are damaged, not so many, or not wanted.
func differences(data []byte, values int64, want func(v int64) bool) (rest []byte, ok bool) {
	const mostBlock = 1 << 16
	var head [4]uint64 // values of a block, small blocks of it, all values, and the first one
	for k, most := range [4]uint64{mostBlock, mostBlock, uint64(values), math.MaxUint64} {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > most {
			return nil, false
		}
		head[k], data = n, data[size:]
	}
	small, left := int(head[1]), int64(head[2])
	if left != values {
		return nil, false
	}
	if left == 0 {
		return data, true
	}
	if small == 0 || head[0]%uint64(8*small) != 0 {
		return nil, false
	}
	each := int64(head[0]) / int64(small)
	v := zigzag(head[3])
	if !want(v) {
		return nil, false
	}
	for left--; left > 0; {
		least, size := binary.Uvarint(data)
		if size <= 0 || len(data) < size+small {
			return nil, false
		}
		widths := data[size : size+small]
		data = data[size+small:]
		for _, width := range widths {
			if left == 0 {
				break
			}
			if width > 64 {
				return nil, false
			}
			packed := data[:min(len(data), int(each)*int(width)/8)] // the last one may be cut
			data = data[len(packed):]
			for k := range min(each, left) {
				v += zigzag(least) + int64(bitsAt(packed, int(k)*int(width), int(width)))
				if !want(v) {
					return nil, false
				}
			}
			left -= min(each, left)
		}
		if each == 0 {
			return nil, false
		}
	}
	return data, true
}

func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// bitsAt are so many bits from a place on, the lowest first; those beyond the end are zero.
func bitsAt(data []byte, at, width int) (v uint64) {
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
