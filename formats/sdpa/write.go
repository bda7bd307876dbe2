package sdpa

import (
	"fmt"
	"io"
	"strconv"

	"github.com/conetune/conetune/formats/internal/program"
)

// Write writes the model to a file, gzipped when the path ends in .gz. The file appears whole or not at all.
func Write(path string, m *Model) error { return program.Write(path, m, Encode) }

// Encode writes the model, the entries in their order and in the upper triangle,
// numbers with as many digits as it takes to read the same doubles back.
func Encode(w io.Writer, m *Model) error {
	if err := m.check(); err != nil {
		return err
	}
	return program.Encode(w, func(e *program.Encoder) {
		e.Text(strconv.Itoa(len(m.C)), " = number of variables\n", strconv.Itoa(len(m.Blocks)), " = number of blocks\n")
		for k, n := range m.Blocks {
			if k > 0 {
				e.Text(" ")
			}
			e.Text(strconv.Itoa(n))
		}
		e.Text("\n")
		for k, v := range m.C {
			if k > 0 {
				e.Text(" ")
			}
			e.Number(v)
		}
		e.Text("\n")
		for _, c := range m.Entries {
			e.Entry(c.Value, int(c.Matrix), int(c.Block)+1, int(c.Col)+1, int(c.Row)+1)
		}
	})
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
		if !program.Finite(v) {
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
		if !program.Finite(e.Value) {
			return fmt.Errorf("sdpa: entry %d is %g", k, e.Value)
		}
	}
	return nil
}
