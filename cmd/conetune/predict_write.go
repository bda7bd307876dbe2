package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"

	"github.com/conetune/conetune/internal/spool"
)

// shown is what JSON shows: the texts of labels in the place of their numbers.
func (p *predictions) shown() any {
	if p.labels == nil {
		return p
	}
	words := make([]string, len(p.Predictions))
	for i, v := range p.Predictions {
		words[i] = p.labels[int(v)]
	}
	return struct {
		*predictions
		Predictions []string `json:"predictions"`
	}{p, words}
}

// label is the text of a prediction.
func (p *predictions) label(v float64) string {
	if p.labels != nil {
		return p.labels[int(v)]
	}
	return exact(v)
}

// write writes all predictions.
func (p *predictions) write(w io.Writer) error {
	if p.spool != nil {
		if _, err := p.spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, p.spool); err != nil {
			return err
		}
	}
	return p.writeHeld(w)
}

// spill writes the predictions that are held to a temporary file, so that they do not gather in memory. Where there can be none, they do.
func (p *predictions) spill() error {
	if p.spool == nil {
		s, err := spool.New()
		if err != nil {
			return nil
		}
		p.spool = s
	}
	if err := p.writeHeld(p.spool); err != nil {
		return fmt.Errorf("predictions that are put aside: %w", err)
	}
	p.headed = true
	p.Predictions, p.Probabilities, p.Lines, p.IDs = p.Predictions[:0], p.Probabilities[:0], p.Lines[:0], p.IDs[:0]
	p.ClassProbabilities, p.Survival = p.ClassProbabilities[:0], p.Survival[:0]
	for j := range p.actual {
		p.actual[j] = p.actual[j][:0]
	}
	return nil
}

// close gives the temporary file back.
func (p *predictions) close() {
	if p == nil || p.spool == nil {
		return
	}
	p.spool.Close()
	p.spool = nil
}

// cells are what is written of row i: predictions, but where probabilities stand in their place, and these.
func (p *predictions) cells(list []string, i int, prediction bool) []string {
	if p.Targets != nil {
		for _, v := range p.Lines[i] {
			list = append(list, exact(v))
		}
		return list
	}
	if prediction {
		list = append(list, p.label(p.Predictions[i]))
	}
	for _, v := range p.probabilities(i) {
		list = append(list, exact(v))
	}
	return list
}

// writeHeld writes what is in memory: one number a line, with as many digits as it takes to read it back, or the table of --id.
func (p *predictions) writeHeld(w io.Writer) error {
	if p.form.id != "" {
		return p.writeTable(w)
	}
	b := bufio.NewWriter(w)
	var cells []string
	put := func() {
		for k, cell := range cells {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n') // a failure stays until Flush
	}
	for _, row := range p.Matrix {
		cells = cells[:0]
		for _, v := range row {
			cells = append(cells, p.label(v))
		}
		put()
	}
	instead := p.form.prob || p.form.times != nil // of the predictions
	for i := range max(len(p.Predictions), len(p.Lines)) {
		cells = p.cells(cells[:0], i, p.form.labels || !instead)
		put()
	}
	return b.Flush()
}

// writeTable writes a CSV table with names: id, target, prediction and probability, of several targets target_NAME and prediction_NAME.
func (p *predictions) writeTable(w io.Writer) error {
	out := csv.NewWriter(w)
	suffix := []string{""}
	if p.Targets != nil {
		suffix = suffix[:0]
		for _, name := range p.Targets {
			suffix = append(suffix, "_"+name)
		}
	}
	line := []string{"id"}
	for _, what := range []string{"target", "prediction"} {
		for _, s := range suffix {
			if what != "target" || p.actual != nil {
				line = append(line, what+s)
			}
			if what == "target" && p.actual != nil && p.times {
				line = append(line, "event")
			}
		}
	}
	if p.form.prob && p.classes == nil {
		line = append(line, "probability")
	}
	for k := 0; p.form.prob && k < len(p.classes); k++ {
		line = append(line, "probability_"+p.classes[k])
	}
	for _, t := range p.form.times {
		line = append(line, "survival_"+exact(t))
	}
	if !p.headed {
		_ = out.Write(line) // the error is that of Flush
	}
	for i, id := range p.IDs {
		line = append(line[:0], id)
		for _, column := range p.actual {
			cell := ""
			if p.times {
				line = append(line, timeAndEvent(column[i])...)
				continue
			}
			if v := column[i]; v == v {
				cell = p.label(v)
			}
			line = append(line, cell)
		}
		_ = out.Write(p.cells(line, i, true))
	}
	out.Flush()
	return out.Error()
}

// timeAndEvent are the cells of a time that is negative where it is censored.
func timeAndEvent(y float64) []string {
	event := "0"
	switch {
	case y != y:
		return []string{"", ""}
	case y > 0:
		event = "1"
	}
	return []string{exact(math.Abs(y)), event}
}
