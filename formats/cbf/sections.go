package cbf

import (
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// section is a part of a file with an entry on each line, indices and a value, and the list of a model that holds them.
type section struct {
	keyword string
	list    func(m *Model) *[]Entry
	indices []index
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

var sections = []section{
	{"OBJFCOORD", func(m *Model) *[]Entry { return &m.ObjectiveMatrix },
		[]index{aMatrixVariable, aRow, aColumn}},
	{"OBJACOORD", func(m *Model) *[]Entry { return &m.Objective }, []index{aVariable}},
	{"FCOORD", func(m *Model) *[]Entry { return &m.F }, []index{aConstraint, aMatrixVariable, aRow, aColumn}},
	{"ACOORD", func(m *Model) *[]Entry { return &m.A }, []index{aConstraint, aVariable}},
	{"BCOORD", func(m *Model) *[]Entry { return &m.B }, []index{aConstraint}},
	{"HCOORD", func(m *Model) *[]Entry { return &m.H }, []index{aMatrixConstraint, aVariable, aRow, aColumn}},
	{"DCOORD", func(m *Model) *[]Entry { return &m.D }, []index{aMatrixConstraint, aRow, aColumn}},
}

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
func (r *reader) entries(s *section) {
	what := make([]string, len(s.indices))
	for k, kind := range s.indices {
		what[k] = indexNames[kind]
	}
	words, list := len(what)+1, strings.Join(what, ", ")+" and value"
	limits := r.m.limits()
	r.counted("entries", func() {
		r.line(words, list)
		var e Entry
		for k, kind := range s.indices {
			e.Index[k] = r.index(k, limits[kind], what[k])
			limits.matrix(r.m, kind, e.Index[k])
			if kind == aColumn && e.Index[k] > e.Index[k-1] {
				e.Index[k], e.Index[k-1] = e.Index[k-1], e.Index[k]
			}
		}
		e.Value = r.Number(r.Words[words-1])
		entries := s.list(r.m)
		*entries = append(textfile.Grow(r.Source, *entries, 1), e)
	})
}
