package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/conetune/conetune/table/internal/unpack"
)

var errPageSize = errors.New("a page has another size than its header says")

// The most bytes that one byte can stand for: a copy of Snappy takes three bytes for up to 64, and a length of LZ4 grows by 255 with each byte.
const mostSnappy, mostLZ4 = 22, 255

// unpacked undoes the compression of data that are n bytes without it. The library makes as much room as the header of a page or the data say, and more until the data fit: it
// decodes nothing that was not decoded here.
func unpacked(codec format.CompressionCodec, data []byte, n int64) (out []byte, err error) {
	if n < 0 {
		return nil, errPageSize
	}
	switch codec {
	case format.Uncompressed:
		return data, nil
	case format.Snappy:
		if k, err := snappy.DecodedLen(data); err != nil || int64(k) != n || n > mostSnappy*int64(len(data)) {
			return nil, errPageSize
		}
		out, err = snappy.Decode(nil, data)
	case format.Lz4Raw:
		if n > mostLZ4*int64(len(data)+1) {
			return nil, errPageSize
		}
		out = make([]byte, n)
		var k int
		if k, err = lz4.UncompressBlock(data, out); err != nil {
			return nil, errors.New("the LZ4 data of a page are damaged")
		}
		out = out[:k]
	case format.Gzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			out, err = unpack.UpTo(z, n)
		}
	case format.Brotli:
		out, err = unpack.UpTo(brotli.NewReader(bytes.NewReader(data)), n)
	case format.Zstd:
		out, err = unpack.Zstd(data, n)
	default:
		return nil, fmt.Errorf("its pages are compressed by %s, which is not read", codec)
	}
	if err == nil && int64(len(out)) != n {
		err = errPageSize
	}
	return out, err
}
