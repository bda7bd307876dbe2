package cbf

import (
	"fmt"
	"strings"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// section is a part of a file with an entry on each line, indices and a value, and the list of a model that holds them.
type section struct {
	keyword, field string
	indices        []index
	length         func(m *Model) int
	at             func(m *Model, k int) entry
	add            func(s *textfile.Source, m *Model, e entry)
}

// index is what a word of an entry counts. Rows and columns are of the matrix that the words before name.
type index int

const (
	aVariable index = iota
	aConstraint
	aMatrixVariable
	aMatrixConstraint
	aRow
	aColumn
)

var indexNames = [...]string{"variable", "constraint", "matrix variable", "matrix constraint", "row", "column"}

// entry is a line.
type entry struct {
	i [4]int
	v float64
}

// sections are in the order in which they are written.
var sections = []section{
	sectionOf("OBJFCOORD", "ObjectiveMatrix", func(m *Model) *[]MatrixEntry { return &m.ObjectiveMatrix }, MatrixEntry.entry, entry.matrix, aMatrixVariable, aRow, aColumn),
	sectionOf("OBJACOORD", "Objective", func(m *Model) *[]Coefficient { return &m.Objective }, Coefficient.entry, entry.coefficient, aVariable),
	sectionOf("FCOORD", "F", func(m *Model) *[]CrossEntry { return &m.F }, CrossEntry.entry, entry.cross, aConstraint, aMatrixVariable, aRow, aColumn),
	sectionOf("ACOORD", "A", func(m *Model) *[]Entry { return &m.A }, Entry.entry, entry.plain, aConstraint, aVariable),
	sectionOf("BCOORD", "B", func(m *Model) *[]Coefficient { return &m.B }, Coefficient.entry, entry.coefficient, aConstraint),
	sectionOf("HCOORD", "H", func(m *Model) *[]CrossEntry { return &m.H }, CrossEntry.entry, entry.cross, aMatrixConstraint, aVariable, aRow, aColumn),
	sectionOf("DCOORD", "D", func(m *Model) *[]MatrixEntry { return &m.D }, MatrixEntry.entry, entry.matrix, aMatrixConstraint, aRow, aColumn),
}

func sectionOf[E any](keyword, field string, list func(m *Model) *[]E, of func(E) entry, to func(entry) E, indices ...index) section {
	return section{
		keyword, field, indices,
		func(m *Model) int { return len(*list(m)) },
		func(m *Model, k int) entry { return of((*list(m))[k]) },
		func(s *textfile.Source, m *Model, e entry) {
			l := list(m)
			*l = append(textfile.Grow(s, *l, 1), to(e))
		},
	}
}

func (c Coefficient) entry() entry { return entry{[4]int{c.Index}, c.Value} }
func (c Entry) entry() entry       { return entry{[4]int{c.Row, c.Col}, c.Value} }
func (c MatrixEntry) entry() entry { return entry{[4]int{c.Owner, c.Row, c.Col}, c.Value} }
func (c CrossEntry) entry() entry  { return entry{[4]int{c.Owner, c.Other, c.Row, c.Col}, c.Value} }

func (e entry) coefficient() Coefficient { return Coefficient{e.i[0], e.v} }
func (e entry) plain() Entry             { return Entry{e.i[0], e.i[1], e.v} }
func (e entry) matrix() MatrixEntry      { return MatrixEntry{e.i[0], e.i[1], e.i[2], e.v} }
func (e entry) cross() CrossEntry        { return CrossEntry{e.i[0], e.i[1], e.i[2], e.i[3], e.v} }

// limits are how many of each index a model has; those of rows and columns are set by matrix.
type limits [aColumn + 1]int

func (m *Model) limits() (l limits) {
	l[aVariable], l[aConstraint] = m.Dims()
	l[aMatrixVariable], l[aMatrixConstraint] = len(m.PSDVar), len(m.PSDCon)
	return l
}

// matrix takes the order of matrix i, if it is one.
func (l *limits) matrix(m *Model, kind index, i int) {
	switch kind {
	case aMatrixVariable:
		l[aRow], l[aColumn] = m.PSDVar[i], m.PSDVar[i]
	case aMatrixConstraint:
		l[aRow], l[aColumn] = m.PSDCon[i], m.PSDCon[i]
	}
}

// entries reads the section. Places of matrices are kept in the lower triangle.
func (r *reader) entries(s *section) error {
	what := make([]string, len(s.indices))
	for k, kind := range s.indices {
		what[k] = indexNames[kind]
	}
	words, list := len(what)+1, strings.Join(what, ", ")+" and value"
	limits := r.m.limits()
	return r.counted("entries", func() error {
		if err := r.line(words, list); err != nil {
			return err
		}
		var e entry
		var err error
		for k, kind := range s.indices {
			if e.i[k], err = r.index(k, limits[kind], what[k]); err != nil {
				return err
			}
			limits.matrix(r.m, kind, e.i[k])
			if kind == aColumn && e.i[k] > e.i[k-1] {
				e.i[k], e.i[k-1] = e.i[k-1], e.i[k]
			}
		}
		if e.v, err = r.number(words - 1); err != nil {
			return err
		}
		s.add(r.s, r.m, e)
		return nil
	})
}

// constant reads OBJBCOORD.
func (r *reader) constant() (err error) {
	if err := r.line(1, "a number"); err != nil {
		return err
	}
	r.m.Constant, err = r.number(0)
	return err
}

// check finds an entry that is out of range, above the diagonal or not finite.
func (s *section) check(m *Model) error {
	limits := m.limits()
	for k := range s.length(m) {
		e := s.at(m, k)
		good := program.Finite(e.v)
		for j, kind := range s.indices {
			good = good && e.i[j] >= 0 && e.i[j] < limits[kind] && (kind != aColumn || e.i[j] <= e.i[j-1])
			if good {
				limits.matrix(m, kind, e.i[j])
			}
		}
		if !good {
			return fmt.Errorf("cbf: entry %d of %s is out of range or not finite", k, s.field)
		}
	}
	return nil
}
