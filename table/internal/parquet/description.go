package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/table"
)

// describe reads the end of a file, which says what it has (FileMetaData of parquet.thrift, whose numbers of fields
// stand here).
func describe(r io.ReaderAt, size int64) *node {
	const ends = 8 // the length and PAR1
	var end [ends]byte
	if size < ends+4 {
		panic(io.ErrUnexpectedEOF)
	}
	if _, err := r.ReadAt(end[:], size-ends); err != io.EOF {
		table.Check(err)
	}
	if string(end[4:]) != magic {
		panic(errors.New("it does not end as such files do, is it complete?"))
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-ends-4 {
		panic(fmt.Errorf("its description has %d bytes, the file %d", n, size))
	}
	t := &thrift{r: bufio.NewReader(io.NewSectionReader(r, size-ends-n, n)), room: memory.Default() / 2}
	return &node{parts: t.structure()}
}

// The types of values.
const (
	boolean = iota
	int32s
	int64s
	int96s
	floats
	doubles
	byteArray
	fixedArray
)

// meaning is what values stand for beyond their type.
type meaning int

const (
	asIs meaning = iota
	aText
	aDecimal
	aDate
	aTime
	aMoment
	unsigned
	aUUID
	aHalf // a number of 16 bits
)

// perSecond are how many of the units of times are a second.
var perSecond = [...]int64{1e3, 1e6, 1e9}

// converted are the meanings that older files give by the number of their ConvertedType, logical those of the fields of
// a LogicalType. Texts are those of UTF-8, enumerations and JSON.
var (
	converted = map[int64]meaning{0: aText, 4: aText, 5: aDecimal, 6: aDate, 7: aTime, 8: aTime, 9: aMoment, 10: aMoment,
		11: unsigned, 12: unsigned, 13: unsigned, 14: unsigned, 19: aText}
	logical = map[int]meaning{1: aText, 4: aText, 5: aDecimal, 6: aDate, 7: aTime, 8: aMoment, 12: aText, 14: aUUID,
		15: aHalf}
)

// How often a column has a value in a row.
const optional, repeated = 1, 2

// element is a column, or one of columns.
type element struct {
	name                    string
	kind, repeats, children int64
	length                  int64 // of an array that is fixed
	meaning                 meaning
	scale                   int64 // of decimals
	second                  int64 // how many of a unit of time are a second
}

func elementOf(n *node) *element {
	e := &element{name: string(n.at(4).text), kind: n.at(1).number, repeats: n.at(3).number, children: n.at(5).number,
		length: n.at(2).number, scale: n.at(7).number}
	if older := n.at(6); older.id > 0 {
		if e.meaning = converted[older.number]; e.meaning == aTime || e.meaning == aMoment {
			e.second = perSecond[(older.number+1)%2]
		}
	}
	if newer := n.at(10).parts; len(newer) > 0 {
		of := &newer[0]
		e.meaning = logical[of.id]
		switch of.id {
		case 5:
			e.scale = of.at(1).number
		case 7, 8:
			e.second = perSecond[of.at(2).parts[0].id-1]
		case 10:
			if of.at(2).number == no { // with a sign
				e.meaning = unsigned
			}
		}
	}
	return e
}
