package parquet

import (
	"encoding/binary"
	"errors"
	"io"
)

// compact goes through a description in the compact protocol of Thrift (thrift-compact-protocol.md of Apache Thrift) without keeping anything: the library makes room for as many
// elements of a list, and bytes of a text, as these say that they have.
type compact struct {
	data  []byte
	items int // of lists, sets and maps
}

// The types of fields and elements.
const (
	compactStop = iota
	compactTrue
	compactFalse
	compactByte
	compactInt16
	compactInt32
	compactInt64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
	compactUUID
)

// deepest bounds structures within each other; those of Parquet files are half a dozen deep.
const deepest = 32

var errCompact = errors.New("its description is damaged")

// structure goes through a structure.
func (c *compact) structure(depth int) error {
	for {
		head, err := c.byte()
		if err != nil {
			return err
		}
		kind := head & 15
		if kind == compactStop {
			return nil
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := c.number(); err != nil {
				return err
			}
		}
		if kind == compactTrue || kind == compactFalse { // which say it all
			continue
		}
		if err := c.value(kind, depth); err != nil {
			return err
		}
	}
}

// value goes through a value, or an element.
func (c *compact) value(kind byte, depth int) error {
	switch kind {
	case compactTrue, compactFalse, compactByte:
		return c.skip(1)
	case compactInt16, compactInt32, compactInt64:
		_, err := c.number()
		return err
	case compactDouble:
		return c.skip(8)
	case compactUUID:
		return c.skip(16)
	case compactBinary:
		n, err := c.number()
		if err != nil {
			return err
		}
		return c.skip(n)
	case compactList, compactSet:
		head, err := c.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = c.number(); err != nil {
				return err
			}
		}
		return c.elements(n, depth, head&15)
	case compactMap:
		n, err := c.number()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := c.byte()
		if err != nil {
			return err
		}
		return c.elements(n, depth, kinds>>4, kinds&15)
	case compactStruct:
		if depth == deepest {
			return errCompact
		}
		return c.structure(depth + 1)
	}
	return errCompact
}

// elements goes through n elements, each of which has values of these kinds, of a byte at least.
func (c *compact) elements(n uint64, depth int, kinds ...byte) error {
	if n > uint64(len(c.data)) {
		return io.ErrUnexpectedEOF
	}
	if depth == deepest {
		return errCompact
	}
	c.items += int(n)
	for range n {
		for _, kind := range kinds {
			if err := c.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *compact) byte() (byte, error) {
	if len(c.data) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b, nil
}

func (c *compact) number() (uint64, error) {
	n, k := binary.Uvarint(c.data)
	if k == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if k < 0 {
		return 0, errCompact
	}
	c.data = c.data[k:]
	return n, nil
}

func (c *compact) skip(n uint64) error {
	if n > uint64(len(c.data)) {
		return io.ErrUnexpectedEOF
	}
	c.data = c.data[n:]
	return nil
}
