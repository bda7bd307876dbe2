package sdpa

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/conetune/conetune/formats/internal/fields"
	"github.com/conetune/conetune/internal/textfile"
)

// Write writes the model to a file, gzipped when the path ends in .gz. The file
// appears whole or not at all.
func Write(path string, m *Model) error {
	return textfile.Write(path, func(w io.Writer) error { return Encode(w, m) })
}

// Encode writes the model, the entries in their order and in the upper triangle,
// numbers with as many digits as it takes to read the same doubles back.
func Encode(w io.Writer, m *Model) error {
	if err := m.check(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	line := strconv.AppendInt(nil, int64(len(m.C)), 10)
	line = append(line, " = number of variables\n"...)
	line = strconv.AppendInt(line, int64(len(m.Blocks)), 10)
	line = append(line, " = number of blocks\n"...)
	for k, n := range m.Blocks {
		if k > 0 {
			line = append(line, ' ')
		}
		line = strconv.AppendInt(line, int64(n), 10)
	}
	line = append(line, '\n')
	for k, v := range m.C {
		if k > 0 {
			line = append(line, ' ')
		}
		line = fields.AppendNumber(line, v)
	}
	_, _ = out.Write(append(line, '\n')) // the first error stays in out
	for _, e := range m.Entries {
		line = line[:0]
		for _, v := range [4]int32{e.Matrix, e.Block + 1, e.Col + 1, e.Row + 1} {
			line = append(strconv.AppendInt(line, int64(v), 10), ' ')
		}
		_, _ = out.Write(append(fields.AppendNumber(line, e.Value), '\n'))
	}
	return out.Flush()
}

// check finds what is not a model.
func (m *Model) check() error {
	if len(m.Blocks) == 0 {
		return fmt.Errorf("sdpa: the model has no blocks")
	}
	for k, n := range m.Blocks {
		if n == 0 {
			return fmt.Errorf("sdpa: block %d is empty", k)
		}
	}
	for k, v := range m.C {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("sdpa: the objective of variable %d is %g", k, v)
		}
	}
	for k, e := range m.Entries {
		inside := e.Matrix >= 0 && int(e.Matrix) <= len(m.C) && e.Block >= 0 && int(e.Block) < len(m.Blocks)
		if inside {
			n := m.Blocks[e.Block]
			inside = e.Col >= 0 && e.Row >= e.Col && int(e.Row) < abs(n) && (n > 0 || e.Row == e.Col)
		}
		if !inside {
			return fmt.Errorf("sdpa: entry %d, (%d, %d) of block %d of matrix %d, is outside of the lower triangle of its block", k, e.Row, e.Col, e.Block, e.Matrix)
		}
		if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
			return fmt.Errorf("sdpa: entry %d is %g", k, e.Value)
		}
	}
	return nil
}
