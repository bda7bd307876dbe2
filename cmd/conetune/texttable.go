package main

import (
	"strings"
	"unicode/utf8"

	"github.com/conetune/conetune/internal/webpage"
)

const (
	// lineWidth is the most characters of a line of sentences.
	lineWidth = 110
	// between stands between two columns.
	between = "   "
)

// textTable is a table of a page at the terminal, without pictures: numbers to the right.
func textTable(t *webpage.Table) string {
	var lines [][]string
	head := make([]string, len(t.Columns))
	for k, c := range t.Columns {
		head[k] = c.Title
	}
	lines = append(lines, head)
	for _, r := range t.Rows {
		cells := make([]string, len(r.Cells))
		for k, c := range r.Cells {
			cells[k] = c.Text
		}
		lines = append(lines, cells)
	}
	width := make([]int, len(head))
	for _, cells := range lines {
		for k, text := range cells {
			width[k] = max(width[k], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for _, cells := range lines {
		var line strings.Builder
		for k, text := range cells {
			if t.Columns[k].Spoken == ofPicture {
				continue
			}
			if k > 0 {
				line.WriteString(between)
			}
			pad := strings.Repeat(" ", width[k]-utf8.RuneCountInString(text))
			if t.Columns[k].Number {
				text, pad = pad, text
			}
			line.WriteString(text + pad)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// wrapped breaks sentences into lines.
func wrapped(text string) string {
	var b strings.Builder
	at := 0
	for k, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case k == 0:
		case at+1+size > lineWidth:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += size
	}
	return b.String() + "\n"
}
