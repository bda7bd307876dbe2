package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// checkPages goes through the pages of a column before the library reads them, which makes room for as many values as the runs of a page say they have: a page
// may not say more than its header, nor that more than the part of the file.
func checkPages(r io.ReaderAt, size int64, c *format.ColumnMetaData, optional bool, budget int64) error {
	from := c.DataPageOffset
	if c.DictionaryPageOffset > 0 && c.DictionaryPageOffset < from {
		from = c.DictionaryPageOffset
	}
	if from < 0 || c.TotalCompressedSize < 0 || from > size-c.TotalCompressedSize {
		return errors.New("a column of it stands outside of the file")
	}
	rest := io.NewSectionReader(r, from, c.TotalCompressedSize)
	codec := parquet.LookupCompressionCodec(c.Codec)
	for values, at := int64(0), int64(0); values < c.NumValues; {
		head, n, err := headOf(rest, at)
		if err != nil {
			return err
		}
		at += n
		packed := int64(head.CompressedPageSize)
		if packed < 0 || packed > c.TotalCompressedSize-at || head.UncompressedPageSize < 0 || int64(head.UncompressedPageSize) > budget {
			return fmt.Errorf("a page says that it has %d bytes", packed)
		}
		page := make([]byte, packed)
		if _, err := rest.ReadAt(page, at); err != nil && err != io.EOF {
			return err
		}
		at += packed
		p := pageCheck{head, page, optional, c.Codec, codec}
		n, err = p.values()
		if err != nil {
			return err
		}
		if n < 0 || n > c.NumValues-values {
			return fmt.Errorf("a page says that it has %d values", n)
		}
		values += n
	}
	return nil
}

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
	head     *format.PageHeader
	data     []byte
	optional bool
	kind     format.CompressionCodec
	codec    interface {
		Decode(dst, src []byte) ([]byte, error)
	}
}

var errRuns = errors.New("the runs of a page have more values than the page")

// values is how many a page has, once it was found not to say more.
func (p *pageCheck) values() (int64, error) {
	switch p.head.Type {
	case format.DataPage:
		h := p.head.DataPageHeader.V
		data, err := p.unpack(p.data)
		if err != nil {
			return 0, err
		}
		if p.optional {
			if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
				return 0, errRuns
			}
			n := int(binary.LittleEndian.Uint32(data))
			if !runs(data[4:4+n], 1, int64(h.NumValues)) {
				return 0, errRuns
			}
			data = data[4+n:]
		}
		return int64(h.NumValues), encoded(data, h.Encoding, int64(h.NumValues))
	case format.DataPageV2:
		h := p.head.DataPageHeaderV2.V
		levels := int64(h.DefinitionLevelsByteLength)
		if levels < 0 || h.RepetitionLevelsByteLength != 0 || levels > int64(len(p.data)) || !runs(p.data[:levels], 1, int64(h.NumValues)) {
			return 0, errRuns
		}
		data := p.data[levels:]
		if !h.IsCompressed.Valid || h.IsCompressed.V {
			var err error
			if data, err = p.unpack(data); err != nil {
				return 0, err
			}
		}
		return int64(h.NumValues), encoded(data, h.Encoding, int64(h.NumValues))
	default:
		_, err := p.unpack(p.data)
		return 0, err
	}
}

// unpack undoes the compression.
func (p *pageCheck) unpack(data []byte) ([]byte, error) {
	if p.kind == format.Uncompressed || len(data) == 0 {
		return data, nil
	}
	if p.kind == format.Snappy { // which makes room for what the data say
		if n, k := binary.Uvarint(data); k <= 0 || n > uint64(p.head.UncompressedPageSize) {
			return nil, errors.New("a page says that it is larger than its header")
		}
	}
	return p.codec.Decode(nil, data)
}

// oldDictionary is RLEDictionary as the first version of the format had it.
const oldDictionary format.Encoding = 2

// encoded says whether the values of a page are no more than it has.
func encoded(data []byte, encoding format.Encoding, values int64) error {
	ok := true
	switch encoding {
	case oldDictionary, format.RLEDictionary:
		ok = len(data) == 0 || data[0] <= 32 && runs(data[1:], int(data[0]), values)
	case format.RLE:
		ok = len(data) >= 4 && runs(data[4:], 1, values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray:
		ok = deltas(data, values)
	}
	if !ok {
		return errRuns
	}
	return nil
}

// runs says whether runs of values of so many bits, repeated or packed by eight, are no more than the values.
func runs(data []byte, bits int, values int64) bool {
	left := values + 7
	for len(data) > 0 && left > 7 {
		head, k := binary.Uvarint(data)
		if k <= 0 || head>>1 > uint64(left) {
			return false
		}
		n, size := int64(head>>1), int64(bits+7)/8
		if head&1 == 1 {
			n, size = 8*n, n*int64(bits)
		}
		if left -= n; left < 0 {
			return false
		}
		data = data[min(int64(len(data)), int64(k)+size):]
	}
	return true
}

// deltas says whether the head of differences has sizes of blocks that programs write, and no more values than the page.
func deltas(data []byte, values int64) bool {
	const mostBlock = 1 << 16
	for _, most := range []uint64{mostBlock, mostBlock, uint64(max(values, 0))} {
		n, k := binary.Uvarint(data)
		if k <= 0 || n > most {
			return false
		}
		data = data[k:]
	}
	return true
}
