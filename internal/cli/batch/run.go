package batch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/worklist"
)

// Output is a kind of file that each job may write: the flag of conetune tune that asks for it, the folder for it, and
// the ending of its name.
type Output struct{ Flag, Folder, Ending string }

// Outputs are the kinds of files of jobs.
var Outputs = []Output{
	{"save", "models", ".json"},
	{"report", "reports", ".html"},
	{"coefficients", "coefficients", ".csv"},
	{"path", "paths", ".csv"},
	{"plot", "figures", ".svg"},
}

// path is where a job has its file.
func (o Output) path(dir, job string) string { return filepath.Join(dir, o.Folder, job+o.Ending) }

// Options say where and how to do the jobs.
type Options struct {
	worklist.Options[Plan]
	// Retry, with Resume, does jobs that failed once more.
	Retry bool
	// Outputs are the files that each job writes.
	Outputs []Output
	share   share
}

// Outcome is what a run leaves behind.
type Outcome = worklist.Outcome[Record, Plan]

// Run does the jobs that have no record yet, and writes the summary of all records that are there then. A cancelled
// context ends it in the same way with what was done until then.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	byID := make(map[string]*Job, len(o.Plan.Jobs))
	for k := range o.Plan.Jobs {
		byID[o.Plan.Jobs[k].ID] = &o.Plan.Jobs[k]
	}
	for _, out := range o.Outputs {
		if err := os.MkdirAll(filepath.Join(o.Dir, out.Folder), 0o777); err != nil {
			return nil, err
		}
	}
	sums := &checksums{}
	done, err := worklist.Run(ctx, jobs, worklist.Work[string, Record]{
		Again: o.again,
		Check: func(have map[string]*Record) error {
			if err := checkRecords(o.Plan, have, sums); err != nil {
				return fmt.Errorf("%s: %w", filepath.Join(o.Dir, worklist.ResultsFile), err)
			}
			return nil
		},
		Do: func(ctx context.Context, id string) (*Record, error) {
			return o.do(ctx, byID[id], sums)
		},
	}, o.Options)
	if err != nil {
		return nil, err
	}
	return done, WriteSummary(o.Dir, done.Records)
}

// again says whether a job with a record is to be done once more: it had a model and a file that is asked for now is
// not there, which a full disk may not have taken, or it failed and these are tried again.
func (o *Options) again(r *Record) bool {
	if r.Status != OutOfMemory && r.Validation != nil && len(o.lacking(r)) > 0 {
		return true
	}
	return r.failed() && o.Retry
}

// ErrOther says that a folder has a job of the same name that is another one.
var ErrOther = errors.New("choose another folder, or another name for the job")

// checkRecords rejects records of earlier runs that were made with other settings or data. Data that are gone are none
// of other content.
func checkRecords(p Plan, have map[string]*Record, sums *checksums) error {
	for k := range p.Jobs {
		j := &p.Jobs[k]
		r, ok := have[j.ID]
		if !ok {
			continue
		}
		if d := settingsDiffer(r.Settings, j.Settings); d != "" {
			return fmt.Errorf("job %s is done already with other settings, %s: %w", j.ID, d, ErrOther)
		}
		if now := sums.of(j); now != "" && r.Data != "" && now != r.Data {
			return fmt.Errorf("job %s is done already with other data under the same name: %w", j.ID, ErrOther)
		}
	}
	return nil
}

// do runs one job. The error is for a cancelled context, and for a program that cannot be started.
func (o *Options) do(ctx context.Context, j *Job, sums *checksums) (*Record, error) {
	args := append([]string{"tune"}, j.Args()...)
	for _, out := range o.Outputs {
		args = append(args, "--"+out.Flag+"="+out.path(o.Dir, j.ID))
	}
	r := &Record{Schema: Schema, Job: j.ID, Version: o.Version, Settings: j.Settings, Data: sums.of(j)}
	var stdout, stderr bytes.Buffer
	cmd := o.share.program(ctx, j, append(args, "--json"))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	hold, err := cmd.StdinPipe() // which stays open as long as this process lives
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("a job needs a process of its own: %w", err)
	}
	err = cmd.Wait()
	hold.Close()
	r.Seconds = time.Since(begun).Seconds()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if cmd.ProcessState == nil {
		return nil, err
	}
	r.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	r.ExitStatus = cmd.ProcessState.ExitCode()
	r.Message = said(stderr.String())
	t, bad := decodeTold(stdout.Bytes())
	switch {
	case bad == nil && t != nil:
		r.fill(t)
	case r.ExitStatus < 0: // by a signal
		r.Status, r.Message = Failed, fmt.Sprintf("ended by the system: %v", err)
	default:
		r.Status, r.Message = Failed, cmp.Or(r.Message, fmt.Sprintf("exit status %d", r.ExitStatus))
	}
	if r.ExitStatus == cli.ExitMemory {
		r.Status, r.Message = OutOfMemory, said(stderr.String())
	} else if r.Validation != nil && len(o.lacking(r)) > 0 {
		r.Status, r.Message = Failed, said(stderr.String())
	}
	return r, nil
}

// lacking are the files that a job with a model should have, and has not.
func (o *Options) lacking(r *Record) (paths []string) {
	for _, out := range o.Outputs {
		path := out.path(o.Dir, r.Job)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			paths = append(paths, path)
		}
	}
	return paths
}

// mostMessage bounds what is kept of what a process said.
const mostMessage = 2000

// said is what the program said about itself on standard error, on one line.
func said(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "conetune: "); ok {
			list = append(list, rest)
		}
	}
	out := strings.Join(list, "; ")
	if len(out) > mostMessage {
		out = strings.ToValidUTF8(out[:mostMessage], "") + " .."
	}
	return out
}

// Merge puts the results of several folders, parts of one plan, into a new one, with the files of the jobs and the
// summary of all. The outcome says how many jobs are missing still.
func Merge(dirs []string, into string) (*Outcome, error) {
	out, err := worklist.Merge(jobs, dirs, into)
	if err != nil {
		return nil, err
	}
	for _, o := range Outputs {
		for _, dir := range dirs {
			if err := copyFiles(filepath.Join(dir, o.Folder), filepath.Join(into, o.Folder), o.Ending); err != nil {
				return nil, err
			}
		}
	}
	return out, WriteSummary(into, out.Records)
}

// copyFiles copies the files with an ending from a folder that may not be there.
func copyFiles(from, to, ending string) error {
	list, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for _, f := range list {
		if f.IsDir() || filepath.Ext(f.Name()) != ending || f.Name()[0] == '.' {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err == nil {
			err = os.MkdirAll(to, 0o777)
		}
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(to, f.Name()), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
