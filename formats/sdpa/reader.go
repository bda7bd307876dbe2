package sdpa

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// read reads from a source that stands at its first line.
func read(s *textfile.Source) (*Model, error) {
	r := &reader{s: s, m: &Model{}}
	for _, step := range []func() error{r.sizes, r.objective, r.entries, r.checkTriangles} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.m, nil
}

// reader goes through the file word by word.
type reader struct {
	s     *textfile.Source
	m     *Model
	words [][]byte // what is left of the line
	buf   [][]byte
	begun bool // a line that is not a comment has been seen

	above, below bool // which triangles the entries were in
	rows         int  // m
}

func (r *reader) fail(field, format string, args ...any) error {
	return r.s.Errorf(r.s.LineNumber(), field, format, args...)
}

// nextLine moves to the next line with words on it. At the end it returns io.EOF.
func (r *reader) nextLine() error {
	for {
		line, err := r.s.Line()
		if err != nil {
			return err
		}
		if !r.begun && len(line) > 0 && (line[0] == '"' || line[0] == '*') {
			continue
		}
		for i, c := range line { // the line is ours until the next one
			switch c {
			case ',', '{', '}', '(', ')':
				line[i] = ' '
			}
		}
		r.buf = textfile.Words(r.buf[:0], line)
		if r.words = r.buf; len(r.words) > 0 {
			r.begun = true
			return nil
		}
	}
}

// word returns the next word; what says in the message what it should have been.
func (r *reader) word(what string) ([]byte, error) {
	if len(r.words) == 0 {
		if err := r.nextLine(); err == io.EOF {
			return nil, r.fail("", "the file ends where %s is expected", what)
		} else if err != nil {
			return nil, err
		}
	}
	w := r.words[0]
	r.words = r.words[1:]
	return w, nil
}

// leading returns the digits, with a sign, at the start of the word: numbers are
// seen together with their explanation, as in 2=mDIM.
func leading(word []byte) []byte {
	end := 0
	for end < len(word) && (word[end] >= '0' && word[end] <= '9' || end == 0 && (word[0] == '-' || word[0] == '+')) {
		end++
	}
	return word[:end]
}

// count reads a number that stands first on its line, whose rest is not read.
func (r *reader) count(what string) (int, error) {
	r.words = nil
	w, err := r.word(what)
	if err != nil {
		return 0, err
	}
	r.words = nil
	n, ok := program.Int(leading(w))
	if !ok || n < 0 {
		return 0, r.fail(what, "%s found, expected a whole number", textfile.Quote(w))
	}
	return n, nil
}

// sizes reads m, the number of blocks, and their sizes.
func (r *reader) sizes() error {
	m, err := r.count("the number of variables")
	if err != nil {
		return err
	}
	r.rows = m
	blocks, err := r.count("the number of blocks")
	if err != nil {
		return err
	}
	if blocks == 0 {
		return r.fail("the number of blocks", "is 0, expected at least one")
	}
	for k := range blocks {
		w, err := r.word(fmt.Sprintf("the size of block %d", k+1))
		if err != nil {
			return err
		}
		n, ok := program.Int(leading(w))
		if !ok || n == 0 {
			return r.fail("the size of block "+fmt.Sprint(k+1), "%s found, expected a whole number, negative for a diagonal block", textfile.Quote(w))
		}
		field, rows, each := "the size of block "+fmt.Sprint(k+1), float64(abs(n)), float64(program.Scalar)
		if !isDiagonal(n) {
			rows, each = program.Triangle(n), program.MatrixRow
		}
		if err := r.s.Charge(r.s.LineNumber(), field, each*rows, "%d found: a block with %.0f entries", n, rows); err != nil {
			return err
		}
		r.m.Blocks = append(textfile.Grow(r.s, r.m.Blocks, 1), n)
	}
	r.words = nil // an explanation may follow
	return nil
}

// objective reads c.
func (r *reader) objective() error {
	r.m.C = []float64{}
	for k := range r.rows {
		w, err := r.word("the objective")
		if err != nil {
			return err
		}
		v, reason := program.Number(w)
		if reason != "" {
			return r.fail(fmt.Sprintf("objective of variable %d", k+1), "%s", reason)
		}
		r.m.C = append(textfile.Grow(r.s, r.m.C, 1), v)
	}
	return nil
}

// entries reads the rest of the file.
func (r *reader) entries() error {
	for {
		if len(r.words) == 0 {
			if err := r.nextLine(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		e, err := r.entry()
		if err != nil {
			return err
		}
		if e.Value != 0 {
			r.m.Entries = append(textfile.Grow(r.s, r.m.Entries, 1), e)
		}
	}
}

// the numbers of an entry, and their names
var entryFields = [4]string{"the matrix of an entry", "the block of an entry", "the row of an entry", "the column of an entry"}

func (r *reader) entry() (e Entry, err error) {
	var index [4]int
	for k, what := range entryFields {
		w, err := r.word(what)
		if err != nil {
			return e, err
		}
		v, ok := program.Int(w)
		limit := 0
		switch k {
		case 0:
			limit = r.rows
		case 1:
			limit = len(r.m.Blocks)
		default:
			limit = abs(r.m.Blocks[index[1]-1])
		}
		if least := min(k, 1); !ok || v < least || v > limit {
			return e, r.fail(what, "%s found, expected a whole number from %d to %d", textfile.Quote(w), least, limit)
		}
		index[k] = v
	}
	w, err := r.word("the value of an entry")
	if err != nil {
		return e, err
	}
	v, reason := program.Number(w)
	if reason != "" {
		return e, r.fail("the value of an entry", "%s", reason)
	}
	i, j := index[2], index[3]
	if i != j && v != 0 {
		if r.m.Blocks[index[1]-1] < 0 {
			return e, r.fail("entry", "(%d, %d) is off the diagonal of block %d, which is diagonal", i, j, index[1])
		}
		r.below, r.above = r.below || i > j, r.above || i < j
	}
	e = Entry{Matrix: int32(index[0]), Block: int32(index[1] - 1), Row: int32(max(i, j) - 1), Col: int32(min(i, j) - 1), Value: v}
	if i < j {
		e.Row, e.Col = e.Col, e.Row // until checkTriangles has seen it
	}
	return e, nil
}

// checkTriangles puts all entries into the lower triangle and makes sure that none
// is there together with its mirror image.
func (r *reader) checkTriangles() error {
	if r.above && r.below {
		order := slices.Clone(r.m.Entries)
		compare := func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Matrix, b.Matrix), cmp.Compare(a.Block, b.Block),
				cmp.Compare(max(a.Row, a.Col), max(b.Row, b.Col)), cmp.Compare(min(a.Row, a.Col), min(b.Row, b.Col)))
		}
		slices.SortFunc(order, compare)
		for k := 1; k < len(order); k++ {
			if a, b := order[k-1], order[k]; compare(a, b) == 0 && a.Row != b.Row {
				return r.s.Errorf(0, fmt.Sprintf("matrix %d, block %d", a.Matrix, a.Block+1), "holds the entry (%d, %d) and its mirror image, expected one triangle", a.Row+1, a.Col+1)
			}
		}
	}
	for k, e := range r.m.Entries {
		r.m.Entries[k].Row, r.m.Entries[k].Col = max(e.Row, e.Col), min(e.Row, e.Col)
	}
	return nil
}

func abs(n int) int { return max(n, -n) }
