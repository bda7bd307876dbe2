package tune

import (
	"encoding/json"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli/report"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// toldResult is a result with its coefficients, the findings about its tables, and how good its predictions are.
type toldResult struct {
	*tune.Result
	notes   []input.Note
	judged  *evaluate.Judged        // nil for nothing to say
	several *evaluate.JudgedTargets // the same of several targets
	nested  *evaluate.Nested        // nil without
	stable  []float64               // the share of the folds that have each feature; nil without folds
}

// MarshalJSON writes the fields of the result, its coefficients, and the findings and measures where there are any.
func (r toldResult) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.Result)
	if err != nil {
		return nil, err
	}
	var more struct {
		*report.ToldCoefficients
		Chosen   map[string]float64                    `json:"chosen_by_folds,omitempty"`
		Findings []input.Note                          `json:"findings,omitempty"`
		On       string                                `json:"metrics_on,omitempty"`
		Metrics  map[string]evaluate.Metric            `json:"metrics,omitempty"`
		Targets  map[string]map[string]evaluate.Metric `json:"metrics_of_targets,omitempty"`
		Nested   *evaluate.Nested                      `json:"nested,omitempty"`
	}
	more.Findings, more.Nested = r.notes, r.nested
	if r.judged != nil {
		more.On, more.Metrics = r.judged.On, evaluate.ByName(r.judged.Metrics)
	}
	if r.several != nil {
		more.On, more.Targets = r.several.On, map[string]map[string]evaluate.Metric{}
		for _, t := range r.several.List {
			more.Targets[t.Name] = evaluate.ByName(t.Metrics)
		}
	}
	if r.Refit != nil && r.RefitFit.Matrix == nil {
		more.ToldCoefficients = report.TellCoefficients(r.RefitFit)
		if r.stable != nil {
			more.Chosen = map[string]float64{}
			for _, e := range model.Effects(r.RefitFit, r.stable) {
				more.Chosen[e.Feature] = r.stable[e.Index]
			}
		}
	}
	rest, err := json.Marshal(more)
	if err != nil || len(rest) == len("{}") {
		return text, err
	}
	return append(append(text[:len(text)-1], ','), rest[1:]...), nil
}
