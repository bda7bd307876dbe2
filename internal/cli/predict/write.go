package predict

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/conetune/conetune/internal/spool"
	"github.com/conetune/conetune/internal/words"
)

// heldText is a text that is written when no error can come any more.
type heldText struct {
	bytes.Buffer
	file *spool.File // has what was there before; nil while all is in memory
}

// spill puts what is there aside in a temporary file, so that it does not gather in memory. Where there can be none, it
// does.
func (h *heldText) spill() (err error) {
	if h.Len() == 0 {
		return nil
	}
	if h.file == nil {
		if h.file, err = spool.New(); err != nil {
			h.file = nil
			return nil
		}
	}
	if _, err = h.WriteTo(h.file); err != nil {
		return fmt.Errorf("predictions that are put aside: %w", err)
	}
	return nil
}

// writeTo writes all of it.
func (h *heldText) writeTo(w io.Writer) error {
	if h.file != nil {
		if _, err := h.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, h.file); err != nil {
			return err
		}
	}
	_, err := h.WriteTo(w)
	return err
}

// close gives the temporary file back.
func (h *heldText) close() {
	if h.file != nil {
		h.file.Close()
		h.file = nil
	}
}

// label is the text of a prediction.
func (p *predictions) label(v float64) string {
	if p.labels != nil {
		return p.labels[int(v)]
	}
	return words.Exact(v)
}

// writeHead writes the names of a CSV table: with --id id, and target where it is there; prediction and probability, of
// several targets target_NAME and prediction_NAME.
func (p *predictions) writeHead(targets bool) {
	if !p.form.table() {
		return
	}
	suffix := []string{""}
	if p.Targets != nil {
		suffix = words.Prefixed("_", p.Targets)
	}
	var line []string
	if p.form.id != "" {
		line = append(line, "id")
	}
	for k := 0; p.form.id != "" && targets && k < len(suffix); k++ {
		line = append(line, "target"+suffix[k])
		if p.times {
			line = append(line, "event")
		}
	}
	line = append(line, words.Prefixed("prediction", suffix)...)
	if p.form.prob && p.Labels == nil {
		line = append(line, "probability")
	}
	line = append(line, words.Prefixed("probability_", p.Labels)...)
	line = append(line, words.Prefixed("survival_", words.Each(p.form.times, words.Exact))...)
	if p.bounds != nil {
		line = append(line, "lower", "upper")
	}
	p.writeCSV(line)
}

// writeCSV writes a line of CSV.
func (p *predictions) writeCSV(line []string) {
	if p.csv == nil {
		p.csv = csv.NewWriter(&p.text)
	}
	_ = p.csv.Write(line) // memory takes everything
	p.csv.Flush()
}

// put adds a row to the lists of JSON, or writes it.
func (p *predictions) put(values, more []float64, id string, actual []float64) {
	if p.form.json {
		p.keep(values, more, id)
	} else {
		p.writeRow(values, more, id, actual)
	}
}

// writeRow writes a row: its predictions, but where probabilities stand in their place, and these, with as many digits
// as it takes to read them back; or its line of the table of --id.
func (p *predictions) writeRow(values, more []float64, id string, actual []float64) {
	var cells []string
	table := p.form.table()
	if p.form.id != "" {
		cells = append(cells, id)
		for _, y := range actual {
			cells = append(cells, p.targetCells(y)...)
		}
	}
	if table || more == nil || p.form.labels || p.bounds != nil {
		for _, v := range values {
			if p.Targets != nil {
				cells = append(cells, words.Exact(v))
			} else {
				cells = append(cells, p.label(v))
			}
		}
	}
	cells = append(cells, words.Each(more, words.Exact)...)
	if table {
		p.writeCSV(cells)
	} else {
		p.text.WriteString(strings.Join(cells, ",") + "\n")
	}
}

// targetCells are those of a target, empty where it is missing: of times, negative where they are censored, also the
// event.
func (p *predictions) targetCells(y float64) []string {
	switch {
	case y != y && p.times:
		return []string{"", ""}
	case y != y:
		return []string{""}
	case !p.times:
		return []string{p.label(y)}
	case y > 0:
		return []string{words.Exact(y), "1"}
	}
	return []string{words.Exact(math.Abs(y)), "0"}
}
