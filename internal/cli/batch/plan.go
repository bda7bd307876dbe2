// Package batch is the command conetune batch, which tunes many tables: a list of jobs, each the command line of one
// conetune tune, is worked off by package worklist, each job in a process of its own.
//
// A folder of results has manifest.json and results.jsonl of package worklist, with a [Plan] and [Record]s; summary.csv
// and times.csv, with a line for each job in the order of the plan; and a folder for each kind of file that was asked
// for, with a file for each job (see [Output]). Everything but seconds is a function of a job, its data and the version
// of the program.
package batch

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/words"
)

// Job is one tune.
type Job struct {
	// ID names the job, its record and its files.
	ID string `json:"job"`
	// Settings are the flags of conetune tune by their names, without dashes, and under model the model.
	Settings map[string]string `json:"settings"`
}

// Plan is a list of jobs.
type Plan struct {
	Jobs []Job `json:"jobs"`
}

// The columns of a list of jobs that are no flags.
const (
	columnJob   = "job"
	columnModel = "model"
)

// Args are the arguments after conetune tune, in the order of the names.
func (j *Job) Args() []string {
	args := []string{j.Settings[columnModel]}
	for _, name := range slices.Sorted(maps.Keys(j.Settings)) {
		if name != columnModel {
			args = append(args, "--"+name+"="+j.Settings[name])
		}
	}
	return args
}

// ReadJobs reads a list of jobs, CSV with a column for each flag and a row for each job; empty cells leave a flag to
// the defaults. A column job has the names of the jobs, without it they are the numbers of the rows. known says what is
// wrong with the name of a column, nil for nothing.
func ReadJobs(path string, defaults map[string]string, known func(name string) error) (Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return Plan{}, err
	}
	defer f.Close()
	p, err := decodeJobs(f, defaults, known)
	if err != nil {
		return Plan{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func decodeJobs(in io.Reader, defaults map[string]string, known func(name string) error) (p Plan, err error) {
	r := csv.NewReader(in)
	r.TrimLeadingSpace, r.FieldsPerRecord = true, -1
	names, err := r.Read()
	if errors.Is(err, io.EOF) {
		return p, errors.New("it is empty, expected a line with the names of flags, and a line for each job")
	} else if err != nil {
		return p, err
	}
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	if len(names) == 1 && strings.ContainsAny(names[0], ";\t") {
		return p, fmt.Errorf("line 1: %q found, expected names with commas between them", names[0])
	}
	for c, name := range names {
		names[c] = strings.TrimPrefix(strings.TrimSpace(name), "--")
		if slices.Contains(names[:c], names[c]) {
			return p, fmt.Errorf("line 1: the column %s is there twice", names[c])
		}
		if names[c] == columnJob || names[c] == columnModel {
			continue
		}
		if err := known(names[c]); err != nil {
			return p, fmt.Errorf("line 1, column %d: %w", c+1, err)
		}
	}
	var lines []int
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return p, err
		}
		line, _ := r.FieldPos(0)
		if len(cells) != len(names) {
			return p, fmt.Errorf("line %d: expected %d cells, as many as there are names, found %d", line, len(names),
				len(cells))
		}
		j := Job{ID: strconv.Itoa(len(p.Jobs) + 1), Settings: maps.Clone(defaults)}
		for c, cell := range cells {
			switch cell = strings.TrimSpace(cell); {
			case cell == "":
			case names[c] == columnJob:
				j.ID = cell
			default:
				j.Settings[names[c]] = cell
			}
		}
		if slices.Contains(names, columnJob) && cells[slices.Index(names, columnJob)] == "" {
			return p, fmt.Errorf("line %d: the job has no name", line)
		}
		p.Jobs, lines = append(p.Jobs, j), append(lines, line)
	}
	return p, p.check(lines)
}

// OfFiles is a job for each table, named after its file, or where two files have one name, after its path.
func OfFiles(paths []string, defaults map[string]string) (p Plan, err error) {
	count := map[string]int{}
	for _, path := range paths {
		count[strings.ToLower(nameOf(filepath.Base(path)))]++
	}
	for _, path := range paths {
		name := nameOf(filepath.Base(path))
		if count[strings.ToLower(name)] > 1 {
			name = strings.Trim(odd.ReplaceAllString(nameOf(filepath.ToSlash(path)), "-"), ".-")
		}
		j := Job{ID: odd.ReplaceAllString(name, "-"), Settings: maps.Clone(defaults)}
		j.Settings["data"] = path
		p.Jobs = append(p.Jobs, j)
	}
	return p, p.check(nil)
}

// nameOf is a path without the endings of tables.
func nameOf(path string) string {
	for _, packed := range []string{".gz", ".bz2", ".zst", ".zip"} {
		path = strings.TrimSuffix(path, packed)
	}
	if ending := filepath.Ext(path); len(ending) < len(filepath.Base(path)) {
		path = strings.TrimSuffix(path, ending)
	}
	return path
}

// odd are the characters that do not go into the name of a file everywhere. mostID bounds the length of names.
var (
	odd = regexp.MustCompile(`[^\pL\pN._+=@-]+`)
	id  = regexp.MustCompile(`^[\pL\pN_][\pL\pN._+=@-]*$`)
)

const mostID = 120

// check rejects lists that cannot be done. lines are those of the jobs in their file, nil where there is none.
func (p *Plan) check(lines []int) error {
	if len(p.Jobs) == 0 {
		return errors.New("there are no jobs")
	}
	wrong := func(k int, format string, args ...any) error {
		if lines != nil {
			format, args = "line %d: "+format, append([]any{lines[k]}, args...)
		}
		return fmt.Errorf(format, args...)
	}
	seen := map[string]string{}
	for k, j := range p.Jobs {
		switch folded := strings.ToLower(j.ID); {
		case len(j.ID) > mostID || !id.MatchString(j.ID):
			return wrong(k, "job %q: expected a name that can be that of a file: letters, digits and ._+=@-, at most %d bytes",
				j.ID, mostID)
		case seen[folded] != "":
			return wrong(k, "job %s and job %s: names must differ, in more than large and small letters", seen[folded], j.ID)
		case j.Settings[columnModel] == "":
			return wrong(k, "job %s has no model: give a column model, or --model NAME for all", j.ID)
		default:
			seen[folded] = j.ID
		}
	}
	return nil
}

// items are the names of the jobs.
func (p Plan) items() []string { return words.Each(p.Jobs, func(j Job) string { return j.ID }) }

// difference says in what two plans differ.
func difference(a, b Plan) string {
	if len(a.Jobs) != len(b.Jobs) {
		return fmt.Sprintf("%d jobs and %d", len(a.Jobs), len(b.Jobs))
	}
	for k := range a.Jobs {
		if a.Jobs[k].ID != b.Jobs[k].ID {
			return fmt.Sprintf("job %d is %s and %s", k+1, a.Jobs[k].ID, b.Jobs[k].ID)
		}
		if d := settingsDiffer(a.Jobs[k].Settings, b.Jobs[k].Settings); d != "" {
			return fmt.Sprintf("job %s has %s", a.Jobs[k].ID, d)
		}
	}
	return "their plans differ"
}

// settingsDiffer says in which flag settings differ, and is empty where they are the same.
func settingsDiffer(a, b map[string]string) string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if x, y := a[name], b[name]; x != y {
			return fmt.Sprintf("%s %q and %q", name, x, y)
		}
	}
	return ""
}
