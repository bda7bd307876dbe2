package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/synthetic"
	"github.com/conetune/conetune/model"
)

// job is a case to run. Its arguments have DATA and MADE in the place of folders: they are the same on all machines.
type job struct {
	name  string
	args  []string
	quick bool
	table maker // to be made before
	// series are the cases that end with the first one over the limit, "" for none.
	series string
}

// maker writes a table into a folder where it is not yet there.
type maker interface{ write(dir string) error }

const dataFolder, madeFolder = "DATA/", "MADE/"

func (j job) part() string { return j.name[:strings.IndexByte(j.name, '/')] }

// methods are those of the paper, and hoag.
var methods = []string{"vf-idca", "grid", "random", "tpe", "igjo", "hoag", "ifdm"}

// list has all cases that are asked for, in order.
func (s *settings) list() ([]job, error) {
	all := madeTables()
	if s.grown > 0 {
		all = grownTables(s.grown)
	} else if s.data != "" {
		references, err := names(s.data, "reference")
		if err != nil {
			return nil, err
		}
		tables, err := names(s.data, "tabular")
		if err != nil {
			return nil, err
		}
		programs, err := s.programs()
		if err != nil {
			return nil, err
		}
		all = slices.Concat(referenceTables(references), tabular(tables), all, programs)
	}
	all = slices.DeleteFunc(all, func(j job) bool { return s.quick && !j.quick || !s.only.MatchString(j.name) })
	if len(all) == 0 {
		return nil, errors.New("no case is left")
	}
	return all, nil
}

// names are those of the entries of a folder of the data, none where it is not there.
func names(data, folder string) (list []string, err error) {
	entries, err := os.ReadDir(filepath.Join(data, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list, err
}

// divided has rows for a test, and folds of the others.
var divided = []string{"--split", "0.75/rest", "--folds", "5"}

// common are the flags of all cases: what is refused for its memory is the same on all machines.
var common = []string{"--json", "--threads", "1", "--memory", "12GB"}

// tuned is the command line that all tables have in common.
func tuned(model string, args ...string) []string {
	return slices.Concat([]string{"tune", model}, common, args)
}

// referenceTables are the folders of DATA/reference, whose names begin with that of the model.
func referenceTables(folders []string) []job {
	var ours, paper []job
	for _, folder := range folders {
		for _, m := range model.Names() {
			if !strings.HasPrefix(folder, m+"-") {
				continue
			}
			dir := dataFolder + "reference/" + folder
			ours = append(ours, job{name: "reference/" + folder, args: tuned(m, "--dir", dir), quick: true})
			for _, method := range methods {
				if method == "ifdm" && (m == "sparse-group-lasso" || m == "matrix-completion") {
					continue // which it refuses
				}
				args := tuned(m, "--dir", dir, "--preset", "paper", "--method", method)
				paper = append(paper, job{name: "paper/" + folder + "/" + method, args: args, quick: true})
			}
		}
	}
	return append(ours, paper...)
}

// tabular are the tables of DATA/tabular: numbers to predict where they are CSV, two labels where they are LIBSVM.
func tabular(files []string) (jobs []job) {
	for _, file := range files {
		of := []string{"logistic", "svm"}
		if strings.HasSuffix(strings.TrimSuffix(file, ".gz"), ".csv") {
			of = []string{"elastic-net", "lasso", "ridge"}
		}
		for _, model := range of {
			if file != "instances.csv" {
				args := append(tuned(model, "--data", dataFolder+"tabular/"+file), divided...)
				jobs = append(jobs, job{name: "tabular/" + file + "/" + model, args: args, quick: !strings.HasSuffix(file, ".gz")})
			}
		}
	}
	return jobs
}

// made is a table that is drawn for a model, of seed 1. The rows have folds where the model's data may.
type made struct {
	model.Spec
	size string
	rows int
}

var sizes = []made{{size: "small", rows: 80}, {size: "medium", rows: 400}, {size: "large", rows: 1200}}

func (t made) folder() string { return t.Name + "-" + t.size }

// write writes it as conetune generate does.
func (t made) write(dir string) error {
	path := filepath.Join(dir, t.folder())
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	preset, p := fmt.Sprintf("%d-%d-p%d-t5", t.rows, t.rows/4, 20+t.rows/20), 20+t.rows/20
	switch {
	case t.Matrix:
		preset = fmt.Sprintf("%d-%d", p, p)
	case t.Takes("Groups"):
		preset = fmt.Sprintf("%d-%d-%d-p%d-m%d", t.rows/2, t.rows/2, t.rows/4, p, p/4)
	case t.Several:
		preset = fmt.Sprintf("%d-%d-%d-p%d", t.rows/2, t.rows/2, t.rows/4, p)
	}
	d, err := synthetic.Draw(t.Spec, preset, 1)
	if err != nil {
		return err
	}
	return d.Write(path)
}

// madeTables are one of each size for each model.
func madeTables() (jobs []job) {
	for k, t := range sizes {
		for _, t.Spec = range model.Specs() {
			args := tuned(t.Name, "--dir", madeFolder+t.folder())
			jobs = append(jobs, job{name: "made/" + t.size + "/" + t.Name, args: args, quick: k < 2, table: t})
		}
	}
	return jobs
}

// quickBytes is the largest file of a program that -quick solves.
const quickBytes = 14_000

// programs are the files of the folders that are there.
func (s *settings) programs() (jobs []job, err error) {
	for _, folder := range []string{"lp", "qp", "conic", "sdp"} {
		files, err := names(s.data, folder)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			name := strings.TrimSuffix(file, ".gz")
			extension := filepath.Ext(name)
			if !slices.Contains([]string{".dat-s", ".cbf", ".mps", ".qps"}, extension) {
				continue
			}
			info, err := os.Stat(filepath.Join(s.data, folder, file))
			if err != nil {
				return nil, err
			}
			if s.size == 0 || info.Size() <= s.size {
				args := append([]string{"solve", dataFolder + folder + "/" + file}, common...)
				name = folder + "/" + strings.TrimSuffix(name, extension)
				jobs = append(jobs, job{name: name, args: args, quick: info.Size() <= quickBytes})
			}
		}
	}
	return jobs, nil
}
