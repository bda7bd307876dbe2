package batch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/conetune/conetune/internal/batch"
	"github.com/conetune/conetune/internal/cli/process"
	"github.com/conetune/conetune/internal/memory"
)

// share is what each of several jobs at once has of the machine.
type share struct {
	jobs, threads int
	memory        int64
}

// newShare divides the machine: atOnce jobs of so many in all, or with 0 as many as there are processors.
func newShare(atOnce, all int, defaults map[string]string) share {
	cores := runtime.GOMAXPROCS(0)
	s := share{jobs: atOnce}
	if s.jobs == 0 {
		s.jobs = cores
		var threads int
		if n, _ := fmt.Sscan(defaults["threads"], &threads); n == 1 && threads > 0 {
			s.jobs = cores / threads
		}
	}
	s.jobs = max(1, min(s.jobs, all))
	s.threads = max(1, cores/s.jobs)
	s.memory = memory.Default() / int64(s.jobs)
	return s
}

// program is this program for a job: with its share, and until this process ends.
func (s share) program(ctx context.Context, j *batch.Job, args []string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), process.JobProcess+"=1")
	if j.Settings["threads"] == "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", s.threads))
	}
	if j.Settings["memory"] == "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMEMLIMIT=%d", s.memory))
	}
	return cmd
}
