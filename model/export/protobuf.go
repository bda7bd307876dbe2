package export

import "encoding/binary"

// message is a protocol buffer: fields by their number, of integers and of what has a length (Protocol Buffers,
// Encoding).
type message []byte

func (m message) tag(field, wire int) message { return binary.AppendUvarint(m, uint64(field<<3|wire)) }

func (m message) integer(field int, v int64) message {
	return binary.AppendUvarint(m.tag(field, 0), uint64(v))
}

func (m message) bytes(field int, content []byte) message {
	return append(binary.AppendUvarint(m.tag(field, 2), uint64(len(content))), content...)
}

func (m message) text(field int, content string) message { return m.bytes(field, []byte(content)) }

// with adds a message, or each of several, as a field.
func (m message) with(field int, parts ...message) message {
	for _, part := range parts {
		m = m.bytes(field, part)
	}
	return m
}

// numbers are those of a list in little-endian order.
func (m message) numbers(field int, list any) message {
	content, _ := binary.Append(nil, binary.LittleEndian, list) // of a fixed size
	return m.bytes(field, content)
}
