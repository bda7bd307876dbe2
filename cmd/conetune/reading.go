package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/conetune/conetune/internal/memory"
)

// readingStage says how far the reading of files is, where the system tells.
type readingStage struct {
	names []string // as given
	real  []string // without symbolic links; of folders, all files in them are meant
	now   string   // the file that is read
	since time.Time
}

func newReading(paths []string) *readingStage {
	r := &readingStage{}
	for _, path := range paths {
		r.names = append(r.names, filepath.Base(path))
		if full, err := filepath.EvalSymlinks(path); err == nil {
			if full, err = filepath.Abs(full); err == nil {
				r.real = append(r.real, full)
			}
		}
	}
	return r
}

// text is the line of the progress.
func (r *readingStage) text(now time.Time) string {
	path, at := openFile(r.means)
	info, err := os.Stat(path)
	if path == "" || err != nil || info.Size() == 0 {
		return "reading " + strings.Join(r.names, ", ")
	}
	if path != r.now {
		r.now, r.since = path, now
	}
	share := min(1, float64(at)/float64(info.Size()))
	text := fmt.Sprintf("reading %s  %.0f %% of %s", filepath.Base(path), 100*share, memory.Format(info.Size()))
	if taken := now.Sub(r.since); share > 0 && taken > time.Second {
		text += fmt.Sprintf("  about %s left", left(taken, share, 1-share, 0).Round(time.Second))
	}
	return text
}

// means says whether an open file is one of ours.
func (r *readingStage) means(path string) bool {
	for _, full := range r.real {
		if path == full || strings.HasPrefix(path, full+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
