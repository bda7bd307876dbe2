package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/internal/unpack"
)

var errPageSize = errors.New("a page has another size than its header says")

// The most bytes that one byte can stand for: a copy of Snappy takes three bytes for up to 64, and a length of LZ4
// grows by 255 with each byte.
const mostSnappy, mostLZ4 = 22, 255

// codecs are the ways of compression, by their numbers.
var codecs = [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}

// unpacked undoes the compression of data that are n bytes without it, of which there is room in the budget.
func unpacked(codec int64, data []byte, n int64) (out []byte) {
	if n < 0 || codec < 0 || codec >= int64(len(codecs)) {
		panic(errPageSize)
	}
	var err error
	switch codecs[codec] {
	case "UNCOMPRESSED":
		return data
	case "SNAPPY":
		if k, err := snappy.DecodedLen(data); err != nil || int64(k) != n || n > mostSnappy*int64(len(data)) {
			panic(errPageSize)
		}
		out, err = snappy.Decode(nil, data)
	case "LZ4_RAW":
		if n > mostLZ4*int64(len(data)+1) {
			panic(errPageSize)
		}
		out = make([]byte, n)
		k, damaged := lz4.UncompressBlock(data, out)
		if damaged != nil {
			panic(errors.New("the LZ4 data of a page are damaged"))
		}
		out = out[:k]
	case "GZIP":
		z, damaged := gzip.NewReader(bytes.NewReader(data))
		table.Check(damaged)
		out, err = unpack.UpTo(z, n)
	case "BROTLI":
		z, damaged := brotli.NewReader(bytes.NewReader(data), nil)
		table.Check(damaged)
		out, err = unpack.UpTo(z, n)
	case "ZSTD":
		out, err = unpack.Zstd(data, n)
	default:
		panic(fmt.Errorf("its pages are compressed by %s, which is not read", codecs[codec]))
	}
	table.Check(err)
	if int64(len(out)) != n {
		panic(errPageSize)
	}
	return out
}
