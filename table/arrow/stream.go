package arrow

import (
	"encoding/binary"
	"errors"
	"io"
)

// continues stands before the length of each message of a stream, but for those of Arrow before version 0.15, which are not read.
const continues = 1<<32 - 1

// schemaMessage is the kind of the first message of a stream.
const schemaMessage = 1

// isStream says that a file begins as streams do; no text does.
func isStream(r io.ReaderAt) bool { return begins(r, "\xff\xff\xff\xff") }

// block is the message that begins at a place, nil at the end of the stream.
func (f *file) block(at int64) (*block, error) {
	const prefix, most = 8, 1 << 30
	if at >= f.size {
		return nil, nil // which may end without a mark
	}
	var first [prefix]byte
	if at > f.size-prefix {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := f.r.ReadAt(first[:], at); err != nil && err != io.EOF {
		return nil, err
	}
	if binary.LittleEndian.Uint32(first[:]) != continues {
		return nil, errors.New("a part of it does not begin as those of a stream do")
	}
	n := int64(binary.LittleEndian.Uint32(first[4:]))
	if n == 0 {
		return nil, nil
	}
	if n > most || at > f.size-prefix-n {
		return nil, io.ErrUnexpectedEOF
	}
	if n > f.budget {
		return nil, f.tooLarge()
	}
	head := make([]byte, n)
	if _, err := f.r.ReadAt(head, at+prefix); err != nil && err != io.EOF {
		return nil, err
	}
	return &block{at, prefix + n, root(head).long(3)}, nil
}

// readStream reads the messages of a stream one after the other: the schema, and dictionaries and rows as they come.
func (f *file) readStream() error {
	var columns []field
	line := int32(0)
	for at := int64(0); ; {
		b, err := f.block(at)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		m, err := f.message(*b)
		if err != nil {
			return err
		}
		switch {
		case columns == nil && m.kind == schemaMessage:
			if columns, err = schema(m.head, f.budget); err == nil {
				err = f.begin(columns)
			}
		case columns == nil || m.kind == schemaMessage:
			err = errors.New("it does not have one description of its columns")
		case m.kind == dictionaryMessage:
			err = f.readDictionaries([]block{*b}, columns)
		default:
			line, err = f.readBatch(*b, columns, line)
		}
		if err != nil {
			return err
		}
		at = b.at + b.head + b.body // which is larger, and within the file
	}
	if columns == nil {
		return io.ErrUnexpectedEOF
	}
	return nil
}
