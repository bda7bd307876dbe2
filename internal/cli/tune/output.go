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

// toldResult is a result with its coefficients, the findings about its tables, and how good its predictions are.
type toldResult struct {
	*tune.Result
	notes   []table.Finding
	judged  *evaluate.Sample  // nil for nothing to say
	several []evaluate.Sample // the same of several targets
	nested  *evaluate.Nested  // nil without
	stable  []float64         // the share of the folds that have each feature; nil without folds

	bootstrap *report.ToldBootstrap // nil without
	intervals *evaluate.Covered     // nil without test rows
}

// MarshalJSON writes the fields of the result, its coefficients, and the findings and measures where there are any.
func (r toldResult) MarshalJSON() ([]byte, error) {
	type Fields tune.Result // without its methods
	out := struct {
		Fields
		*report.ToldCoefficients
		Chosen   map[string]float64                    `json:"chosen_by_folds,omitempty"`
		Findings []table.Finding                       `json:"findings,omitempty"`
		On       string                                `json:"metrics_on,omitempty"`
		Metrics  map[string]evaluate.Metric            `json:"metrics,omitempty"`
		Targets  map[string]map[string]evaluate.Metric `json:"metrics_of_targets,omitempty"`
		Cut      *float64                              `json:"threshold,omitempty"`
		Nested   *evaluate.Nested                      `json:"nested,omitempty"`
		Sampled  *report.ToldBootstrap                 `json:"bootstrap,omitempty"`
		Covered  *evaluate.Covered                     `json:"intervals,omitempty"`
	}{Fields: Fields(*r.Result), Findings: r.notes, Nested: r.nested, Sampled: r.bootstrap, Covered: r.intervals}
	if r.judged != nil {
		out.On, out.Metrics = r.judged.On, evaluate.ByName(r.judged.Metrics)
		if r.judged.Rule != nil {
			out.Cut = &r.judged.Threshold
		}
	}
	if r.several != nil {
		out.On, out.Targets = r.several[0].On, map[string]map[string]evaluate.Metric{}
		for _, t := range r.several {
			out.Targets[t.Target] = evaluate.ByName(t.Metrics)
		}
	}
	if r.Refit != nil && r.RefitFit.Matrix == nil {
		out.ToldCoefficients = report.TellCoefficients(r.RefitFit)
		if r.stable != nil {
			out.Chosen = map[string]float64{}
			for _, e := range model.Effects(r.RefitFit, r.stable) {
				out.Chosen[e.Feature] = r.stable[e.Index]
			}
		}
	}
	return finitejson.Marshal(out)
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
