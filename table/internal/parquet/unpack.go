package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

var errPageSize = errors.New("a page has another size than its header says")

// The most bytes that one byte can stand for: a copy of Snappy takes three bytes for up to 64, and a length of LZ4
// grows by 255 with each byte.
const mostSnappy, mostLZ4 = 22, 255

// unpacked undoes the compression of data that are n bytes without it, of which there is room in the budget.
func unpacked(codec format.CompressionCodec, data []byte, n int64) (out []byte) {
	if n < 0 {
		panic(errPageSize)
	}
	var err error
	switch codec {
	case format.Uncompressed:
		return data
	case format.Snappy:
		if k, err := snappy.DecodedLen(data); err != nil || int64(k) != n || n > mostSnappy*int64(len(data)) {
			panic(errPageSize)
		}
		out, err = snappy.Decode(nil, data)
	case format.Lz4Raw:
		if n > mostLZ4*int64(len(data)+1) {
			panic(errPageSize)
		}
		out = make([]byte, n)
		k, damaged := lz4.UncompressBlock(data, out)
		if damaged != nil {
			panic(errors.New("the LZ4 data of a page are damaged"))
		}
		out = out[:k]
	case format.Gzip:
		z, damaged := gzip.NewReader(bytes.NewReader(data))
		table.Check(damaged)
		out, err = unpack.UpTo(z, n)
	case format.Brotli:
		z, damaged := brotli.NewReader(bytes.NewReader(data), nil)
		table.Check(damaged)
		out, err = unpack.UpTo(z, n)
	case format.Zstd:
		out, err = unpack.Zstd(data, n)
	default:
		panic(fmt.Errorf("its pages are compressed by %s, which is not read", codec))
	}
	table.Check(err)
	if int64(len(out)) != n {
		panic(errPageSize)
	}
	return out
}
