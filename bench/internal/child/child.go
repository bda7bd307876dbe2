// Package child has what the measurements of this folder share: what a program under measurement has used, and on which
// files it is run.
package child

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// CPU is the seconds of the processor of a process that has ended, user and system.
func CPU(state *os.ProcessState) float64 { return (state.UserTime() + state.SystemTime()).Seconds() }

// Programs lists the files of a folder that conetune solve reads, by name.
func Programs(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		switch filepath.Ext(strings.TrimSuffix(e.Name(), ".gz")) {
		case ".dat-s", ".cbf", ".mps", ".qps":
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no .mps, .qps, .cbf or .dat-s file", folder)
	}
	return files, nil
}

// Name is that of a program: its file without folder and endings.
func Name(file string) string {
	file = strings.TrimSuffix(filepath.Base(file), ".gz")
	return strings.TrimSuffix(file, filepath.Ext(file))
}

// shift is added to seconds in geometric means: below it a process mostly starts.
const shift = 0.01

// Mean is a geometric mean of ratios; the zero value is that of none, and 1.
type Mean struct {
	sum float64
	n   int
}

// Add adds the ratio of two figures.
func (m *Mean) Add(older, newer float64) { m.sum += math.Log(newer / older); m.n++ }

// AddSeconds adds that of two times of processes.
func (m *Mean) AddSeconds(older, newer float64) { m.Add(older+shift, newer+shift) }

// Value is the mean.
func (m *Mean) Value() float64 { return math.Exp(m.sum / float64(max(1, m.n))) }
