package table

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// Encodings.
const (
	UTF8   = "utf-8"
	Latin1 = "latin1"
	UTF16  = "utf-16"
)

// Options say what is not to be found out from the content. The zero value finds all.
type Options struct {
	// Separator is one character, or tab, space (any run of blanks), comma, semicolon, bar.
	Separator string
	// Decimal is "." or ",".
	Decimal string
	// Comment is the character with which lines begin that are passed over, or none.
	Comment string
	// Encoding is utf-8, latin1 (and Windows-1252) or utf-16.
	Encoding string
	// Header is yes where the first line has the names of the columns, and no where it has data; columns are x1, x2, ..
	// then.
	Header string
	// Verbatim are the names of columns whose cells are texts as they stand in the file, numbers with leading zeros for
	// example; names that are not there pass.
	Verbatim []string
	// Missing are texts and numbers that stand for a missing value, beside those that always do; Verbatim columns keep
	// them.
	Missing []string
	// Sheet is that of a workbook, its first one where it is empty.
	Sheet string
	// Formats are those that are known beside text.
	Formats []Format
}

// separators are the names of separators.
var separators = map[string]byte{"tab": '\t', `\t`: '\t', "\t": '\t', "space": ' ', " ": ' ', "comma": ',', ",": ',',
	"semicolon": ';', ";": ';', "bar": '|', "|": '|', ":": ':', "^": '^', "~": '~'}

// Validate rejects options that mean nothing.
func (o Options) Validate() error {
	switch {
	case o.Separator != "" && separators[o.Separator] == 0:
		return fmt.Errorf("the separator is %q, expected one of , ; | : ^ ~ or tab, space, comma, semicolon, bar",
			o.Separator)
	case o.Decimal != "" && o.Decimal != "." && o.Decimal != ",":
		return fmt.Errorf("the decimal point is %q, expected . or ,", o.Decimal)
	case o.Comment != "" && o.Comment != "none" &&
		(len(o.Comment) != 1 || strings.ContainsAny(o.Comment, "\"0123456789+-. \n")):
		return fmt.Errorf("the comment character is %q, expected one such as #, or none", o.Comment)
	case !slices.Contains([]string{"", UTF8, Latin1, UTF16}, o.Encoding):
		return fmt.Errorf("the encoding is %q, expected %s, %s or %s", o.Encoding, UTF8, Latin1, UTF16)
	case !slices.Contains([]string{"", "yes", "no"}, o.Header):
		return fmt.Errorf("header is %q, expected yes or no", o.Header)
	case o.Separator != "" && o.Decimal == "," && separators[o.Separator] == ',':
		return fmt.Errorf("separator and decimal point are both a comma")
	}
	return nil
}

// dialect is how a file writes a table.
type dialect struct {
	// Separator stands between cells; a blank means any run of blanks and tabs.
	Separator byte
	// Decimal is '.' or ','.
	Decimal byte
	// Comment begins lines that are passed over, 0 for none.
	Comment byte
	// Header says that the file names its columns.
	Header bool
	// RowNames says that the first column has no name in the line of names.
	RowNames bool

	skip     int  // lines before the names: sep=; and what may come before it
	hashed   bool // the names stand in a comment
	trailing bool // rows end with a separator, and names do not
	columns  int
}

// sniff finds the dialect out from the first lines of a text.
func sniff(s *textfile.Source, o Options) dialect {
	d := dialect{Separator: ',', Decimal: '.', Comment: '#'}
	if o.Comment != "" {
		d.Comment = o.Comment[0]
		if o.Comment == "none" {
			d.Comment = 0
		}
	}
	lines := sampleLines(s.Peek(headBytes))
	said := false
	if len(lines) > 0 {
		if c, ok := separatorLine(lines[0]); ok {
			d.Separator, said = c, true
			d.skip++
			lines = lines[1:]
		}
	}
	if o.Separator != "" {
		d.Separator, said = separators[o.Separator], true
	}
	var data [][]byte
	var comment []byte // the last one before the data
	if o.Comment == "" && hashIsText(lines) {
		d.Comment = 0
	}
	for _, line := range lines {
		switch text := textfile.TrimLeft(line); {
		case len(text) == 0:
		case d.comments(text, anySeparator):
			if len(data) == 0 {
				comment = text[1:]
			}
		default:
			data = append(data, line)
		}
	}
	if !said {
		d.Separator = findSeparator(data, comment)
	}
	var rows [][]string
	for _, line := range data {
		rows = append(rows, d.split(line))
	}
	beyond := newSpellings(o.Missing)
	beyond.clearTexts(rows[min(1, len(rows)):])
	d.columns = mode(rows)
	d.Decimal = d.findDecimal(rows, o)
	d.findHeader(rows, comment, o)
	return d
}

// comments says whether a line is passed over: it begins with the character of comments, and not with an error of a
// spreadsheet such as #N/A, which ends at one of the separators.
func (d *dialect) comments(text []byte, separators string) bool {
	return d.Comment != 0 && text[0] == d.Comment && !begins(text, separators)
}

// hashIsText says whether most lines after the first that does not begin with # do: then it belongs to their first
// cells.
func hashIsText(lines [][]byte) bool {
	begun, hashed, others := false, 0, 0
	for _, line := range lines {
		switch text := textfile.TrimLeft(line); {
		case len(text) == 0:
		case text[0] != '#' && !begun:
			begun = true
		case text[0] == '#' && begun && !begins(text, anySeparator+" "):
			hashed++
		case begun:
			others++
		}
	}
	return hashed > others
}

// sampleLines are the whole lines of the head of a text, or what there is of the first one.
func sampleLines(head []byte) [][]byte {
	const most = 400
	whole := len(head) < headBytes
	var lines [][]byte
	for line := range bytes.Lines(head) {
		if !whole && line[len(line)-1] != '\n' && len(lines) > 0 {
			break
		}
		if lines = append(lines, bytes.TrimRight(line, "\r\n")); len(lines) == most {
			break
		}
	}
	return lines
}

// anySeparator are those that are tried, but for the blank.
const anySeparator = ",;|\t"

// separatorLine reads the line sep=; of a spreadsheet.
func separatorLine(line []byte) (byte, bool) {
	text := strings.Trim(string(line), "\" ")
	if len(text) < 5 || !strings.EqualFold(text[:4], "sep=") {
		return 0, false
	}
	c, known := separators[text[4:]]
	return c, known
}

// findSeparator is the character that parts most lines into the same number of cells, of which the line of names may
// have one less where no other character parts it as it does the others.
func findSeparator(lines [][]byte, comment []byte) byte {
	best, first, share, cells, names := byte(0), byte(0), 0.0, 0, 0
	for _, c := range []byte{',', '\t', ';', '|', ' '} {
		if c == ' ' && best != 0 && best != '\t' {
			break
		}
		d := dialect{Separator: c}
		var rows [][]string
		for _, line := range lines {
			rows = append(rows, d.split(line))
		}
		if first == 0 && len(rows) > 0 && len(rows[0]) > 1 {
			first = c
		}
		width := mode(rows)
		if width < 2 || c == ' ' && best == '\t' && !d.mostlyNumbers(rows, width) {
			continue
		}
		same := 0
		for _, row := range rows {
			if len(row) == width {
				same++
			}
		}
		n := len(rows[0])
		if n != width && n != width-1 || 2*same < len(rows) {
			continue
		}
		s := float64(same) / float64(len(rows))
		if s > share+0.05 || s > share-0.05 && (width > cells || width == cells && n > names) {
			best, share, cells, names = c, s, width, n
		}
	}
	return cmp.Or(best, first, ',') // where the lines differ, or there is one, what the first one has
}

// mostlyNumbers says whether all lines but the first have so many cells, and half of these are numbers or missing: then
// tabs are among the blanks that part columns.
func (d *dialect) mostlyNumbers(rows [][]string, width int) bool {
	numbers, all := 0, 0
	for k, row := range rows {
		if len(row) != width && k > 0 {
			return false
		}
		for _, cell := range row {
			if all++; textfile.IsNumber([]byte(cell)) || missing(cell) {
				numbers++
			}
		}
	}
	return len(rows) > 2 && 2*numbers >= all
}

// mode is the most frequent number of cells of the lines after the first one, or that of the first one where there are
// no others.
func mode(rows [][]string) int {
	if len(rows) == 0 {
		return 0
	}
	counts := map[int]int{}
	best := len(rows[0])
	for _, row := range rows[1:] {
		counts[len(row)]++
	}
	for _, row := range rows[1:] {
		if counts[len(row)] > counts[best] {
			best = len(row)
		}
	}
	return best
}

// split takes a line apart; a quote that does not end is taken as far as the line goes.
func (d *dialect) split(line []byte) []string {
	var cells []string
	f := textfile.Fields{Rest: line, Separator: d.Separator}
	for f.Next() {
		cells = append(cells, string(f.Text))
	}
	return cells
}

// findDecimal tells a decimal comma from other commas.
func (d *dialect) findDecimal(rows [][]string, o Options) byte {
	switch {
	case o.Decimal != "":
		return o.Decimal[0]
	case len(rows) == 0:
		return '.'
	}
	points, commas, thousands := 0, 0, 0
	for _, row := range rows {
		for _, cell := range row {
			switch {
			case strings.Contains(cell, ".") && textfile.IsNumber([]byte(cell)):
				points++
			case isDecimalComma(cell):
				commas++
				if isThousands(cell, ',', '.') {
					thousands++
				}
			}
		}
	}
	if points > 0 || commas == 0 || thousands == commas && d.Separator != ';' {
		return '.'
	}
	return ','
}

// isDecimalComma says whether a text is a number with a comma for its point.
func isDecimalComma(text string) bool {
	if strings.Count(text, ",") != 1 || strings.ContainsAny(text, ".") {
		return false
	}
	return textfile.IsNumber([]byte(strings.Replace(text, ",", ".", 1)))
}

// findHeader tells names from data in the first line.
func (d *dialect) findHeader(rows [][]string, comment []byte, o Options) {
	if len(rows) == 0 {
		d.Header = o.Header != "no"
		return
	}
	first, rest := rows[0], rows[1:]
	if len(first) == d.columns-1 && o.Header != "no" {
		d.Header = true
		d.trailing = d.Separator != ' ' &&
			!slices.ContainsFunc(rest, func(row []string) bool { return len(row) == d.columns && row[d.columns-1] != "" })
		d.RowNames = !d.trailing
		return
	}
	switch {
	case o.Header != "":
		d.Header = o.Header == "yes"
	default:
		d.Header = d.looksLikeNames(first, rest)
	}
	if o.Header != "no" && comment != nil && d.looksLikeData(first) {
		names := d.split(comment)
		if len(names) == len(first) && d.looksLikeNames(names, rows) {
			d.Header, d.hashed = true, true
		}
	}
}

func (d *dialect) number(cell string) bool {
	if d.Decimal == ',' {
		cell = strings.Replace(cell, ",", ".", 1)
	}
	return textfile.IsNumber([]byte(cell))
}

// looksLikeData says whether a cell of the line is a number.
func (d *dialect) looksLikeData(cells []string) bool { return slices.ContainsFunc(cells, d.number) }

// fewestYears are as many as make a heading of years.
const fewestYears = 3

// years says whether the numbers among the cells are years at even distances, as over the columns of a wide table.
func (d *dialect) years(cells []string) bool {
	var years []int
	for _, cell := range cells {
		if !d.number(cell) {
			continue
		}
		year, err := strconv.Atoi(cell)
		if err != nil || year < 1000 || year > 2999 {
			return false
		}
		years = append(years, year)
	}
	if len(years) < fewestYears {
		return false
	}
	for k := 2; k < len(years); k++ {
		if years[k]-years[k-1] != years[1]-years[0] {
			return false
		}
	}
	return years[1] > years[0]
}

// looksLikeNames says whether the cells of a first line are names for those below.
func (d *dialect) looksLikeNames(first []string, rest [][]string) bool {
	numbers, counting := true, true
	for j, name := range first {
		numbers = numbers && d.number(name)
		counting = counting && (name == fmt.Sprint(j) || name == fmt.Sprint(j+1))
	}
	switch {
	case numbers:
		return counting && len(first) > 1 // columns that are named by their number
	case !d.looksLikeData(first):
		return true
	case first[0] == "": // of an index
		return true
	case d.years(first):
		return true
	}
	for j, name := range first {
		if d.number(name) || missing(name) {
			continue
		}
		numbers, all := 0, 0
		for _, row := range rest {
			if j < len(row) && !missing(row[j]) {
				if all++; d.number(row[j]) {
					numbers++
				}
			}
		}
		if numbers > 0 && 2*numbers >= all {
			return true
		}
	}
	return len(rest) == 0
}

// findings tell what is unusual about the dialect.
func (d *dialect) findings(packed, encoding string) (list []Finding) {
	var how []string
	switch d.Separator {
	case ';':
		how = append(how, "separated by semicolons")
	case '\t':
		how = append(how, "separated by tabs")
	case ' ':
		how = append(how, "separated by blanks")
	case ',':
	default:
		how = append(how, fmt.Sprintf("separated by %q", string(d.Separator)))
	}
	if d.Decimal == ',' {
		how = append(how, "decimal commas")
	}
	if encoding != "" {
		how = append(how, encoding)
	}
	if packed != "" && packed != "gzip" {
		how = append(how, "compressed by "+packed)
	}
	if how != nil {
		list = append(list, Finding{Kind: "dialect", Text: "the table is read as " + strings.Join(how, ", ")})
	}
	if !d.Header {
		list = append(list, Finding{Kind: "header", Text: "the first line holds data, not names: the columns are called " +
			"x1, x2, .. (Options.Header yes if it holds names)"})
	}
	return list
}
