// Package unpack has what binary formats share: integers of any size, and undoing the compression of data whose size is
// known before, without room for more than that, whatever the data say of themselves.
package unpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/conetune/conetune/table"
)

// Footer is where the description of a file begins and how many bytes it has, where the file ends with that number and
// a mark. What is damaged panics.
func Footer(r io.ReaderAt, size int64, mark string) (from, n int64) {
	end := make([]byte, 4+len(mark))
	from = size - int64(len(end))
	if from < int64(len(mark)) {
		panic(io.ErrUnexpectedEOF)
	}
	if _, err := r.ReadAt(end, from); err != io.EOF {
		table.Check(err)
	}
	if string(end[4:]) != mark {
		panic(errors.New("it does not end as such files do, is it complete?"))
	}
	if n = int64(binary.LittleEndian.Uint32(end)); n > from-int64(len(mark)) {
		panic(fmt.Errorf("its description has %d bytes, the file %d", n, size))
	}
	return from - n, n
}

// few are so many bytes that they are unpacked at once, and not through a window.
const few = 4 << 20

// Zstd undoes Zstandard. The result has n bytes, or fewer or more where that is wrong.
func Zstd(data []byte, n int64) ([]byte, error) {
	const leastWindow, mostWindow = 1 << 10, 128 << 20
	if n <= few {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(n, leastWindow))),
			zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return d.DecodeAll(data, nil)
	}
	d, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(min(2*n, mostWindow))))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return UpTo(d, n)
}

// UpTo reads at most one byte more than n. Room is made as the data come.
func UpTo(r io.Reader, n int64) ([]byte, error) { return io.ReadAll(io.LimitReader(r, n+1)) }

// Integer is that of some bytes, up to eight and the lowest first, in two's complement if it is signed.
func Integer(v []byte, signed bool) int64 {
	n := uint64(0)
	for k, c := range v {
		n |= uint64(c) << (8 * k)
	}
	if shift := 64 - 8*len(v); signed {
		return int64(n<<shift) >> shift
	}
	return int64(n)
}
