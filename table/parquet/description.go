package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/conetune/conetune/internal/memory"
)

// description is what the end of a file says of it (parquet.thrift of the format).
type description struct {
	rows     int64
	elements []element
	groups   []group
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

// element is a column, or one of columns.
type element struct {
	kind     int64
	length   int64 // of an array that is fixed
	repeats  int64
	name     string
	children int64
	meaning  meaning
	scale    int64 // of decimals
	second   int64 // how many of a unit of time are a second
}

// How often a column has a value in a row.
const (
	optional = 1
	repeated = 2
)

// group are rows, with a chunk for each column without others in it.
type group struct {
	rows   int64
	chunks []chunk
}

// chunk are the values of a column in a group.
type chunk struct {
	codec, values    int64
	size             int64 // in the file
	data, dictionary int64 // where pages begin; 0 for no dictionary
}

// itemBytes is about what an element of a list of the description takes in memory.
const itemBytes = 256

// describe reads the description.
func describe(r io.ReaderAt, size int64) (*description, error) {
	const ends = 8 // the length and PAR1
	var end [ends]byte
	if size < ends+4 {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end[:], size-ends); err != nil && err != io.EOF {
		return nil, err
	}
	if string(end[4:]) != magic {
		return nil, errors.New("it does not end as such files do, is it complete?")
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-ends-4 {
		return nil, fmt.Errorf("its description has %d bytes, the file %d", n, size)
	}
	text := bufio.NewReader(io.NewSectionReader(r, size-ends-n, n))
	t := &thrift{r: text, items: memory.Default() / itemBytes}
	d := &description{}
	t.structure(func(id int, kind byte) {
		switch id {
		case 2:
			t.list(func(byte) { d.elements = append(d.elements, t.element()) })
		case 3:
			d.rows = t.integer()
		case 4:
			t.list(func(byte) { d.groups = append(d.groups, t.group()) })
		default:
			t.skip(kind)
		}
	})
	if len(d.elements) == 0 {
		return nil, errDescription
	}
	return d, nil
}

func (t *thrift) element() (e element) {
	t.structure(func(id int, kind byte) {
		switch id {
		case 1:
			e.kind = t.integer()
		case 2:
			e.length = t.integer()
		case 3:
			e.repeats = t.integer()
		case 4:
			e.name = t.text()
		case 5:
			if e.children = t.integer(); e.children < 0 {
				panic(errDescription)
			}
		case 6:
			e.convert(t.integer())
		case 7:
			e.scale = t.integer()
		case 10: // which says more than 6 and 7
			e.meaning = asIs
			t.structure(func(id int, kind byte) { e.logical(t, id, kind) })
		default:
			t.skip(kind)
		}
	})
	return e
}

// convert takes what older files say of a column.
func (e *element) convert(to int64) {
	switch to {
	case 0, 4, 19: // UTF-8, enumerations, JSON
		e.meaning = aText
	case 5:
		e.meaning = aDecimal
	case 6:
		e.meaning = aDate
	case 7, 8:
		e.meaning, e.second = aTime, perSecond[to-7]
	case 9, 10:
		e.meaning, e.second = aMoment, perSecond[to-9]
	case 11, 12, 13, 14:
		e.meaning = unsigned
	}
}

// perSecond are the units of times.
var perSecond = [...]int64{1e3, 1e6, 1e9}

// logical reads the logical type of a column.
func (e *element) logical(t *thrift, id int, kind byte) {
	switch id {
	case 1, 4, 12: // texts, enumerations, JSON
		e.meaning = aText
	case 5:
		e.meaning = aDecimal
		t.structure(func(id int, kind byte) {
			if id == 1 {
				e.scale = t.integer()
			} else {
				t.skip(kind)
			}
		})
		return
	case 6:
		e.meaning = aDate
	case 7, 8:
		if e.meaning = aTime; id == 8 {
			e.meaning = aMoment
		}
		t.structure(func(id int, kind byte) {
			if id != 2 {
				t.skip(kind)
				return
			}
			t.structure(func(unit int, kind byte) {
				e.second = perSecond[unit-1]
				t.skip(kind)
			})
		})
		return
	case 10:
		t.structure(func(id int, kind byte) {
			if id == 2 && kind == thriftFalse {
				e.meaning = unsigned
			}
			t.skip(kind)
		})
		return
	case 14:
		e.meaning = aUUID
	case 15:
		e.meaning = aHalf
	}
	t.skip(kind)
}

func (t *thrift) group() (g group) {
	t.structure(func(id int, kind byte) {
		switch id {
		case 1:
			t.list(func(byte) {
				var c chunk
				t.structure(func(id int, kind byte) {
					if id == 3 {
						c = t.chunk()
					} else {
						t.skip(kind)
					}
				})
				g.chunks = append(g.chunks, c)
			})
		case 3:
			g.rows = t.integer()
		default:
			t.skip(kind)
		}
	})
	return g
}

func (t *thrift) chunk() (c chunk) {
	t.structure(func(id int, kind byte) {
		switch id {
		case 4:
			c.codec = t.integer()
		case 5:
			c.values = t.integer()
		case 7:
			c.size = t.integer()
		case 9:
			c.data = t.integer()
		case 11:
			c.dictionary = t.integer()
		default:
			t.skip(kind)
		}
	})
	return c
}

// pageHead is what stands before the data of a page.
type pageHead struct {
	kind         int64
	size, packed int64 // bytes, also as the file has them
	values       int64
	encoding     int64
	levels       int64 // bytes that say where values are missing, of the second version
	nested       int64
	plain        bool // data of the second version that are not compressed
}

// The kinds of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	secondPage     = 3 // of data, in the second version of the format
)

func (t *thrift) pageHead() (h pageHead) {
	t.structure(func(id int, kind byte) {
		switch id {
		case 1:
			h.kind = t.integer()
		case 2:
			h.size = t.integer()
		case 3:
			h.packed = t.integer()
		case 5, 7, 8: // by the kind of the page
			second := id == 8
			t.structure(func(id int, kind byte) {
				switch {
				case id == 1:
					h.values = t.integer()
				case !second && id == 2, second && id == 4:
					h.encoding = t.integer()
				case second && id == 5:
					h.levels = t.integer()
				case second && id == 6:
					h.nested = t.integer()
				case second && id == 7:
					h.plain = kind == thriftFalse
				default:
					t.skip(kind)
				}
			})
		default:
			t.skip(kind)
		}
	})
	return h
}
