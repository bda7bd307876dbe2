package program

import (
	"bufio"
	"io"
	"strconv"

	"github.com/conetune/conetune/internal/textfile"
)

// Encoder writes lines. The first error stays in it.
type Encoder struct {
	w    *bufio.Writer
	line []byte
}

// Write writes a file through encode, gzipped when the path ends in .gz. The file appears whole or not at all.
func Write[M any](path string, m *M, encode func(w io.Writer, m *M) error) error {
	return textfile.Write(path, func(w io.Writer) error { return encode(w, m) })
}

// Encode gives write an encoder, and returns the first error of all that it wrote.
func Encode(w io.Writer, write func(e *Encoder)) error {
	e := &Encoder{w: bufio.NewWriter(w)}
	write(e)
	return e.w.Flush()
}

// Text writes texts as they are.
func (e *Encoder) Text(texts ...string) {
	for _, s := range texts {
		_, _ = e.w.WriteString(s)
	}
}

// Number writes a number in the shortest form that reads back as the same double.
func (e *Encoder) Number(v float64) {
	e.line = strconv.AppendFloat(e.line[:0], v, 'g', -1, 64)
	_, _ = e.w.Write(e.line)
}

// Entry writes a line of indices and a value.
func (e *Encoder) Entry(v float64, indices ...int) {
	e.line = e.line[:0]
	for _, i := range indices {
		e.line = append(strconv.AppendInt(e.line, int64(i), 10), ' ')
	}
	_, _ = e.w.Write(append(strconv.AppendFloat(e.line, v, 'g', -1, 64), '\n'))
}
