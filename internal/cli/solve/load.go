package solve

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/formats/lp"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/formats/sdpa"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/words"
)

// loadedProgram is a program from a file of any format.
type loadedProgram struct {
	path, name string
	describe   string   // its size in the terms of the file
	columns    []string // the names of the variables; nil when they have none
	build      func() (*formats.Program, error)
	built      *formats.Program // nil until then
}

// fileFormat is a format of the files that can be solved.
type fileFormat struct {
	endings []string
	summary string
	load    func(path string) (*loadedProgram, error)
}

var fileFormats = []fileFormat{
	{[]string{".qps", ".mps"}, "linear and quadratic programs, fixed or free format",
		func(path string) (*loadedProgram, error) { return loadQPS(qps.Read(path)) }},
	{[]string{".lp"}, "linear and quadratic programs, LP format of CPLEX",
		func(path string) (*loadedProgram, error) { return loadQPS(lp.Read(path)) }},
	{[]string{".dat-s"}, "semidefinite programs, SDPA sparse format", loadSDPA},
	{[]string{".cbf"}, "conic programs, conic benchmark format", loadCBF},
}

// fileFormatList describes the formats, for help texts.
func fileFormatList() string {
	var b strings.Builder
	for _, f := range fileFormats {
		fmt.Fprintf(&b, "  %-12s %s\n", strings.Join(f.endings, " "), f.summary)
	}
	return strings.TrimRight(b.String(), "\n")
}

// withoutEnding takes .gz and the ending of the format away from the name of a file.
func withoutEnding(path string) (name, ending string) {
	name = filepath.Base(path)
	if gz := ".gz"; strings.HasSuffix(strings.ToLower(name), gz) {
		name = name[:len(name)-len(gz)]
	}
	ending = filepath.Ext(name)
	return strings.TrimSuffix(name, ending), strings.ToLower(ending)
}

// findFileFormat goes by the ending of the name.
func findFileFormat(path string) (fileFormat, error) {
	_, ending := withoutEnding(path)
	var known []string
	for _, f := range fileFormats {
		for _, e := range f.endings {
			if e == ending {
				return f, nil
			}
			known = append(known, e)
		}
	}
	return fileFormat{}, cli.BadInputf("%s: unknown kind of file, expected a name that ends in %s, with or without .gz",
		path, strings.Join(known, ", "))
}

// loadProgram reads a file.
func loadProgram(path string) (*loadedProgram, error) {
	f, err := findFileFormat(path)
	if err != nil {
		return nil, err
	}
	p, err := f.load(path)
	if err != nil {
		return nil, cli.BadInput(err)
	}
	p.path = path
	p.name, _ = withoutEnding(path)
	return p, nil
}

func loadQPS(m *qps.Model, err error) (*loadedProgram, error) {
	if err != nil {
		return nil, err
	}
	p := &loadedProgram{columns: m.Columns, describe: sizes(m.Maximize, []int{len(m.Rows), len(m.Columns), m.A.NNZ()},
		"row", "column", "nonzero"), build: func() (*formats.Program, error) { return m.Conic(), nil }}
	if m.P != nil {
		p.describe = strings.Replace(p.describe, ";", fmt.Sprintf(", quadratic objective with %s;",
			words.Count(m.P.NNZ(), "nonzero")), 1)
	}
	return p, nil
}

func loadSDPA(path string) (*loadedProgram, error) {
	m, err := sdpa.Read(path)
	if err != nil {
		return nil, err
	}
	counts := []int{len(m.C), len(m.Blocks), len(m.Entries)}
	return &loadedProgram{describe: sizes(false, counts, "variable", "block", "nonzero"), build: m.Conic}, nil
}

func loadCBF(path string) (*loadedProgram, error) {
	m, err := cbf.Read(path)
	if err != nil {
		return nil, err
	}
	variables, constraints := m.Dims()
	counts := []int{variables, constraints, len(m.A), len(m.PSDVar), len(m.PSDCon)}
	return &loadedProgram{describe: sizes(m.Maximize, counts, "variable", "constraint", "nonzero", "matrix variable",
		"matrix constraint"), build: m.Conic}, nil
}

// sizes says how many there are of what; from the fourth on only where there are some.
func sizes(maximize bool, counts []int, of ...string) string {
	var list []string
	for k, n := range counts {
		if k < 3 || n > 0 {
			list = append(list, words.Count(n, of[k]))
		}
	}
	if maximize {
		return words.Joined(list) + "; to maximise"
	}
	return words.Joined(list) + "; to minimise"
}
