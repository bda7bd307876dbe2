package tune

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/report"
	"github.com/conetune/conetune/internal/finitejson"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/tune"
)

// Fields are those of a result, without its methods.
type Fields tune.Result

// toldResult is what JSON has of a result: its coefficients, the findings about its tables, and how good its
// predictions are, too, as far as there is something to say.
type toldResult struct {
	Fields
	*report.ToldCoefficients
	Chosen   map[string]float64                    `json:"chosen_by_folds,omitempty"`
	Findings []table.Finding                       `json:"findings,omitempty"`
	On       string                                `json:"metrics_on,omitempty"`
	Metrics  map[string]evaluate.Metric            `json:"metrics,omitempty"`
	Targets  map[string]map[string]evaluate.Metric `json:"metrics_of_targets,omitempty"`
	Positive string                                `json:"positive,omitempty"` // the label that is to be found
	Cut      *float64                              `json:"threshold,omitempty"`
	Nested   *evaluate.Nested                      `json:"nested,omitempty"`
	Sampled  *report.ToldBootstrap                 `json:"bootstrap,omitempty"`
	Covered  *evaluate.Covered                     `json:"intervals,omitempty"`
}

// MarshalJSON writes null for numbers that are not finite.
func (r toldResult) MarshalJSON() ([]byte, error) {
	type all toldResult
	return finitejson.Marshal(all(r))
}

// told are the results as JSON has them.
func (job *tuneJob) told() []toldResult {
	list := make([]toldResult, len(job.run.Results))
	for i, r := range job.run.Results {
		out := &list[i]
		out.Fields, out.Findings = Fields(*r), job.run.Rows.Notes
		if r == evaluate.Best(job.run.Results) {
			out.Nested, out.Sampled, out.Covered = job.run.Outside, job.run.TellBootstrap(r), job.run.Covered
		}
		judged := job.run.Judge.Of(r)
		if judged != nil {
			out.On, out.Metrics = judged.On, evaluate.ByName(judged.Metrics)
			if judged.Rule != nil {
				out.Cut = &judged.Threshold
			}
		}
		if several := job.run.Judge.Targets(r); several != nil {
			out.On, out.Targets = several[0].On, map[string]map[string]evaluate.Metric{}
			for _, t := range several {
				out.Targets[t.Target] = evaluate.ByName(t.Metrics)
			}
		}
		if r.Refit == nil || r.RefitFit.Matrix != nil {
			continue
		}
		out.ToldCoefficients = report.TellCoefficients(r.RefitFit)
		if labels := r.RefitFit.Labels; labels != nil && (!r.RefitFit.Classes() || job.Data.Wanted.Positive != "") {
			out.Positive = job.run.Rows.Label(labels[len(labels)-1])
		}
		if stable := job.run.Stability(judged); stable != nil {
			out.Chosen = map[string]float64{}
			for _, e := range model.Effects(r.RefitFit, stable) {
				out.Chosen[e.Feature] = stable[e.Index]
			}
		}
	}
	return list
}

// traceFile writes one JSON object a line and each line at once, so that a run
// can be watched and what is done survives whatever ends it. The file is made
// with the first line: bad input leaves an old one alone.
type traceFile struct {
	path   string
	stream io.Writer // for the name of standard output
	file   *os.File
	err    error // the first one; it is reported at the end of the run
}

func (t *traceFile) write(e tune.Event) {
	if t.path == "" || t.err != nil {
		return
	}
	if t.path == cli.StandardStream {
		t.err = cli.WriteJSON(t.stream, e)
		return
	}
	if t.file == nil {
		if t.file, t.err = atomicfile.Create(t.path); t.err != nil {
			return
		}
	}
	var cause *fs.PathError
	if err := cli.WriteJSON(t.file, e); errors.As(err, &cause) {
		t.err = fmt.Errorf("%s: cannot be written: %w", t.path, cause.Err)
	} else {
		t.err = err
	}
}

func (t *traceFile) close() error {
	if t.file != nil {
		if err := t.file.Close(); t.err == nil {
			t.err = err
		}
	}
	return t.err
}
