package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// thrift reads structures in the compact protocol of Thrift (thrift-compact-protocol.md of Apache Thrift) as they come:
// no room is made for what the text says that it has. What is damaged panics, which package table takes for damage.
type thrift struct {
	r     *bufio.Reader
	items int64 // elements of lists that may still come
}

// The types of fields and elements.
const (
	thriftTrue = 1 + iota
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftText
	thriftList
	thriftSet
	thriftMap
	thriftStructure
	thriftUUID
)

// deepest bounds structures within each other; those of Parquet files are half a dozen deep.
const deepest = 32

// mostText bounds the texts that are kept, names of columns.
const mostText = 1 << 16

var errDescription = errors.New("its description is damaged")

// structure calls field for each field, which reads or skips it.
func (t *thrift) structure(field func(id int, kind byte)) {
	for id := 0; ; {
		head := t.byte()
		kind := head & 15
		if kind == 0 {
			return
		}
		if head>>4 > 0 {
			id += int(head >> 4)
		} else {
			id = int(t.integer())
		}
		field(id, kind)
	}
}

// list calls element for each element of a list.
func (t *thrift) list(element func(kind byte)) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.number()
	}
	for range n { // each has a byte or more
		t.item()
		element(head & 15)
	}
}

// item counts an element.
func (t *thrift) item() {
	if t.items--; t.items < 0 {
		panic(errors.New("its description lists more than fits into the budget of memory"))
	}
}

// skip passes over a field of a kind.
func (t *thrift) skip(kind byte) {
	if kind != thriftTrue && kind != thriftFalse { // which say it all
		t.pass(kind, 0)
	}
}

// pass passes over an element of a kind, so deep in others.
func (t *thrift) pass(kind byte, depth int) {
	if depth > deepest {
		panic(errDescription)
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		t.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		t.number()
	case thriftDouble:
		t.discard(8)
	case thriftUUID:
		t.discard(16)
	case thriftText:
		t.discard(t.number())
	case thriftList, thriftSet:
		t.list(func(kind byte) { t.pass(kind, depth+1) })
	case thriftMap:
		n := t.number()
		if n == 0 {
			return
		}
		kinds := t.byte()
		for range n {
			t.item()
			t.pass(kinds>>4, depth+1)
			t.pass(kinds&15, depth+1)
		}
	case thriftStructure:
		t.structure(func(_ int, kind byte) {
			if kind != thriftTrue && kind != thriftFalse {
				t.pass(kind, depth+1)
			}
		})
	default:
		panic(errDescription)
	}
}

func (t *thrift) byte() byte {
	b, err := t.r.ReadByte()
	if err != nil {
		panic(errDescription)
	}
	return b
}

func (t *thrift) number() uint64 {
	n, err := binary.ReadUvarint(t.r)
	if err != nil {
		panic(errDescription)
	}
	return n
}

func (t *thrift) integer() int64 { return zigzag(t.number()) }

// zigzag undoes the order 0, -1, 1, -2, .. of integers.
func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

func (t *thrift) text() string {
	n := t.number()
	if n > mostText {
		panic(errDescription)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(t.r, text); err != nil {
		panic(errDescription)
	}
	return string(text)
}

func (t *thrift) discard(n uint64) {
	const most = 1 << 30
	if n > most {
		panic(errDescription)
	}
	if _, err := t.r.Discard(int(n)); err != nil {
		panic(errDescription)
	}
}
