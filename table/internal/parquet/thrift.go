package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/conetune/conetune/table/internal/unpack"
)

// node is a field of a structure, an element of a list, or a key or a value of a map, of which all but numbers and
// texts have parts. A truth value is the number yes or no.
type node struct {
	id     int // of a field
	number int64
	text   []byte
	parts  []node
}

// at is the field at a path of numbers of fields, an empty one where there is none.
func (n *node) at(path ...int) *node {
	for _, id := range path {
		found := &node{}
		for k := range n.parts {
			if n.parts[k].id == id {
				found = &n.parts[k]
			}
		}
		n = found
	}
	return n
}

// thrift reads structures in the compact protocol of Thrift (thrift-compact-protocol.md of Apache Thrift) as they come:
// no room is made for what the text says that it has. What is damaged panics, which package table takes for damage.
type thrift struct {
	r     *bufio.Reader
	room  int64 // bytes that may still be taken
	depth int
}

// nodeBytes is what a node takes in a list that grows, deepest bounds structures within each other: those of Parquet
// files are half a dozen deep.
const nodeBytes, deepest = 160, 32

// Truth values.
const yes, no = 1, 2

var (
	errDescription = errors.New("its description is damaged")
	errRoom        = errors.New("its description does not fit into the budget of memory")
)

func (t *thrift) take(n uint64) {
	if n > uint64(max(t.room, 0)) {
		panic(errRoom)
	}
	t.room -= int64(n)
}

// structure reads the fields of a structure.
func (t *thrift) structure() (fields []node) {
	if t.depth++; t.depth > deepest {
		panic(errDescription)
	}
	defer func() { t.depth-- }()
	for id := 0; ; {
		head := t.byte()
		kind := head & 15
		if kind == 0 {
			return fields
		}
		if head>>4 > 0 {
			id += int(head >> 4)
		} else {
			id = int(zigzag(t.number()))
		}
		field := node{number: int64(kind)} // which says it all of a truth value
		if kind != yes && kind != no {
			field = t.value(kind)
		}
		field.id = id
		fields = append(fields, field)
	}
}

// value reads a value of a kind.
func (t *thrift) value(kind byte) (n node) {
	t.take(nodeBytes)
	switch kind {
	case 1, 2, 3: // truth values in lists, bytes
		n.number = int64(t.byte())
	case 4, 5, 6: // integers
		n.number = zigzag(t.number())
	case 7: // of 64 bits
		n.text = t.bytes(8)
	case 8: // texts
		n.text = t.bytes(t.number())
	case 9, 10: // lists and sets
		head := t.byte()
		count := uint64(head >> 4)
		if count == 15 {
			count = t.number()
		}
		n.parts = t.elements(count, head&15)
	case 11: // maps
		if count := t.number(); count > 0 {
			kinds := t.byte()
			n.parts = t.elements(count, kinds>>4, kinds&15)
		}
	case 12:
		n.parts = t.structure()
	case 13: // identifiers
		n.text = t.bytes(16)
	default:
		panic(errDescription)
	}
	return n
}

// elements reads so many, each of values of these kinds.
func (t *thrift) elements(count uint64, kinds ...byte) (list []node) {
	if t.depth++; t.depth > deepest {
		panic(errDescription)
	}
	for range count { // each has a byte or more
		for _, kind := range kinds {
			list = append(list, t.value(kind))
		}
	}
	t.depth--
	return list
}

func (t *thrift) byte() byte {
	b, err := t.r.ReadByte()
	if err != nil {
		panic(errDescription)
	}
	return b
}

func (t *thrift) bytes(n uint64) []byte {
	t.take(n)
	text, err := unpack.UpTo(io.LimitReader(t.r, int64(n)), int64(n))
	if err != nil || uint64(len(text)) < n {
		panic(errDescription)
	}
	return text
}

func (t *thrift) number() uint64 {
	n, err := binary.ReadUvarint(t.r)
	if err != nil {
		panic(errDescription)
	}
	return n
}

// zigzag undoes the order 0, -1, 1, -2, .. of integers.
func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
