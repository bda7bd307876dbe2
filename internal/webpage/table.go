package webpage

import (
	"html/template"
	"strings"
	"unicode/utf8"
)

// Table is a table with a caption. Its rows can be sorted by each column where Sortable is set.
type Table struct {
	ID, Caption string
	Columns     []Column
	Rows        []Row
	Sortable    bool
}

// Broad says that the table has more columns than stand in half a page.
func (t Table) Broad() bool { return len(t.Columns) > 6 }

// Group is a heading over Span columns; an empty title says that they have none.
type Group struct {
	Title string
	Span  int
}

// Groups are the headings above those of the columns, one for neighbours that have the same; nil where none has one.
func (t Table) Groups() (list []Group) {
	for k, c := range t.Columns {
		if k == 0 || c.Group != t.Columns[k-1].Group {
			list = append(list, Group{Title: c.Group})
		}
		list[len(list)-1].Span++
	}
	if len(list) == 1 && list[0].Title == "" {
		return nil
	}
	return list
}

// Column is the heading of a column. Numbers stand at the right and are sorted by value. Spoken, if any, is what a
// screen reader says after the title, where only the heading above tells it to the eye.
type Column struct {
	Title, Spoken string
	Group         string // the heading above that of the column, if any
	Number        bool
	// Picture says that the cells are pictures, which a terminal leaves out.
	Picture bool
}

// Text and Number are columns of a title.
func Text(title string) Column   { return Column{Title: title} }
func Number(title string) Column { return Column{Title: title, Number: true} }

// Row is a row; the first cell is its heading.
type Row struct {
	// X is the place of the row in the figure that the table is the text of; 0 where there is none.
	X float64
	// Start says that the reading of the figure begins here.
	Start bool
	Cells []Cell
}

// Cell is an entry. Key is what it is sorted by, in the place of Text; empty keys come last. Strong stands out.
type Cell struct {
	Text   string
	Key    *string
	Strong bool
	// Picture stands after the text; it says nothing that the row does not.
	Picture template.HTML
}

// NewTable is a table of these columns, without rows.
func NewTable(id, caption string, columns ...Column) *Table {
	return &Table{ID: id, Caption: caption, Columns: columns}
}

// Add adds a row, AddTexts one of texts.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }

// AddTexts is [Table.Add] for texts.
func (t *Table) AddTexts(texts ...string) { t.Add(Texts(texts...)...) }

// Texts are cells of texts.
func Texts(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for k, text := range texts {
		cells[k].Text = text
	}
	return cells
}

// Sorted is a cell that is sorted by another text than it shows.
func Sorted(text, key string) Cell { return Cell{Text: text, Key: &key} }

// First is a table of the first n rows, with how many more there are.
func (t *Table) First(n int) (first *Table, more int) {
	out := *t
	out.Rows = t.Rows[:min(n, len(t.Rows))]
	return &out, len(t.Rows) - len(out.Rows)
}

// String is the table at a terminal, without pictures: numbers to the right. Without titles there is no head.
func (t *Table) String() string {
	lines := make([][]string, 1+len(t.Rows))
	for k, c := range t.Columns {
		if c.Picture {
			continue
		}
		lines[0] = append(lines[0], c.Title)
		for i, r := range t.Rows {
			text := ""
			if k < len(r.Cells) {
				text = r.Cells[k].Text
			}
			lines[1+i] = append(lines[1+i], text)
		}
		pad(lines, lines, len(lines[0])-1, c.Number)
	}
	if strings.TrimSpace(strings.Join(lines[0], "")) == "" {
		lines = lines[1:]
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(strings.Join(line, "   "), " ") + "\n")
	}
	return b.String()
}

// pad brings the cells of a column of lines to the width of the widest of some of them, which it returns.
func pad(lines, of [][]string, column int, right bool) (width int) {
	for _, line := range of {
		width = max(width, utf8.RuneCountInString(line[column]))
	}
	for _, line := range lines {
		blank := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(line[column])))
		if right {
			line[column] = blank + line[column]
		} else {
			line[column] += blank
		}
	}
	return width
}

// Markdown is the table in Markdown, without caption and pictures: what stands out is bold, and the headings above
// those of the columns are before these. The last column is as wide as its heading.
func (t *Table) Markdown() string {
	var head []string
	for _, c := range t.Columns {
		head = append(head, strings.TrimPrefix(c.Group+" "+c.Title, " "))
	}
	lines := [][]string{head, make([]string, len(head))}
	for _, r := range t.Rows {
		var line []string
		for _, c := range r.Cells {
			text := strings.ReplaceAll(c.Text, "|", `\|`)
			if c.Strong {
				text = "**" + text + "**"
			}
			line = append(line, text)
		}
		lines = append(lines, line)
	}
	for k := range head {
		of := lines
		if k == len(head)-1 {
			of = lines[:1]
		}
		lines[1][k] = strings.Repeat("-", pad(lines, of, k, false))
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("| " + strings.Join(line, " | ") + " |\n")
	}
	return b.String()
}
