package sdpa

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// read reads from a source that stands at its first line.
func read(s *textfile.Source) (m *Model, err error) {
	defer program.Catch(&err)
	r := &reader{Lines: program.Lines{Source: s}, m: &Model{C: []float64{}}}
	r.sizes()
	for k := range r.rows {
		w := r.word("the objective")
		r.Field = fmt.Sprintf("objective of variable %d", k+1)
		r.m.C = append(textfile.Grow(s, r.m.C, 1), r.Number(w))
		r.Field = ""
	}
	for len(r.Words) > 0 || r.next() {
		if e := r.entry(); e.Value != 0 {
			r.m.Entries = append(textfile.Grow(s, r.m.Entries, 1), e)
		}
	}
	r.checkTriangles()
	return r.m, nil
}

// reader goes through the file word by word.
type reader struct {
	program.Lines // Words are what is left of the line
	buf           [][]byte
	m             *Model
	begun         bool // a line that is not a comment has been seen

	above, below bool // which triangles the entries were in
	rows         int  // m
}

// next moves to the next line with words on it, false at the end.
func (r *reader) next() bool {
	r.Words = r.buf[:0]
	found := r.Next(func(line []byte) bool {
		if !r.begun && len(line) > 0 && (line[0] == '"' || line[0] == '*') {
			return false
		}
		for i, c := range line { // the line is ours until the next one
			switch c {
			case ',', '{', '}', '(', ')':
				line[i] = ' '
			}
		}
		return true
	})
	r.begun, r.buf = true, r.Words
	return found
}

// word returns the next word; what says in the message what it should have been.
func (r *reader) word(what string) []byte {
	if len(r.Words) == 0 && !r.next() {
		r.Fail("the file ends where %s is expected", what)
	}
	w := r.Words[0]
	r.Words = r.Words[1:]
	return w
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
func (r *reader) count(what string) int {
	w := r.word(what)
	r.Words = nil
	n, ok := program.Int(leading(w))
	if !ok || n < 0 {
		r.FailAt(r.LineNumber(), what, "%s found, expected a whole number", textfile.Quote(w))
	}
	return n
}

// sizes reads m, the number of blocks, and their sizes.
func (r *reader) sizes() {
	r.rows = r.count("the number of variables")
	blocks := r.count("the number of blocks")
	if blocks == 0 {
		r.FailAt(r.LineNumber(), "the number of blocks", "is 0, expected at least one")
	}
	for k := range blocks {
		what := fmt.Sprintf("the size of block %d", k+1)
		w := r.word(what)
		r.Field = what
		n, ok := program.Int(leading(w))
		if !ok || n == 0 {
			r.Fail("%s found, expected a whole number, negative for a diagonal block", textfile.Quote(w))
		}
		rows, each := float64(abs(n)), float64(program.Scalar)
		if !isDiagonal(n) {
			rows, each = program.Triangle(n), program.MatrixRow
		}
		r.Charge(rows, each, "%d found: a block with %.0f entries", n, rows)
		r.m.Blocks = append(textfile.Grow(r.Source, r.m.Blocks, 1), n)
		r.Field = ""
	}
	r.Words = nil // an explanation may follow
}

// the numbers of an entry, and their names
var entryFields = [4]string{"the matrix of an entry", "the block of an entry", "the row of an entry",
	"the column of an entry"}

func (r *reader) entry() cbf.Entry {
	var index [4]int
	for k, what := range entryFields {
		w := r.word(what)
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
			r.FailAt(r.LineNumber(), what, "%s found, expected a whole number from %d to %d", textfile.Quote(w), least, limit)
		}
		index[k] = v
	}
	const value = "the value of an entry"
	w := r.word(value)
	v, reason := program.Number(w)
	if reason != "" {
		r.FailAt(r.LineNumber(), value, "%s", reason)
	}
	i, j := index[2], index[3]
	if i != j && v != 0 {
		if r.m.Blocks[index[1]-1] < 0 {
			r.FailAt(r.LineNumber(), "entry", "(%d, %d) is off the diagonal of block %d, which is diagonal", i, j, index[1])
		}
		r.below, r.above = r.below || i > j, r.above || i < j
	}
	// Rows and columns as they are, until checkTriangles has seen them.
	return cbf.Entry{Index: [4]int{index[0], index[1] - 1, i - 1, j - 1}, Value: v}
}

// checkTriangles puts all entries into the lower triangle and makes sure that none
// is there together with its mirror image.
func (r *reader) checkTriangles() {
	if r.above && r.below {
		order := slices.Clone(r.m.Entries)
		lower := func(e cbf.Entry) [4]int {
			return [4]int{e.Index[0], e.Index[1], max(e.Index[2], e.Index[3]), min(e.Index[2], e.Index[3])}
		}
		slices.SortFunc(order, func(a, b cbf.Entry) int {
			x, y := lower(a), lower(b)
			return slices.Compare(x[:], y[:])
		})
		for k := 1; k < len(order); k++ {
			if at := order[k-1].Index; lower(order[k-1]) == lower(order[k]) && at[2] != order[k].Index[2] {
				r.FailAt(0, fmt.Sprintf("matrix %d, block %d", at[0], at[1]+1),
					"holds the entry (%d, %d) and its mirror image, expected one triangle", at[2]+1, at[3]+1)
			}
		}
	}
	for k, e := range r.m.Entries {
		i, j := e.Index[2], e.Index[3]
		r.m.Entries[k].Index[2], r.m.Entries[k].Index[3] = max(i, j), min(i, j)
	}
}

func abs(n int) int { return max(n, -n) }
