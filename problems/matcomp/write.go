package matcomp

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/groups"
)

// WriteDir writes the data into a folder that [ReadDir] reads, with 17 significant digits. The folder is made if
// needed; one that holds anything is an error. After an error nothing is left of what was written.
func WriteDir(d *Data, dir string) error {
	if err := d.Validate(); err != nil {
		return err
	}
	var files []textfile.File
	for _, side := range d.sides() {
		if f := side.Features; f.X != nil {
			n, _ := f.X.Dims()
			features := func(w io.Writer) error { return textfile.EncodeCSV(w, f.Names, n, f.X.RawRowView) }
			members := func(w io.Writer) error { return groups.Encode(w, f.Groups, f.Names) }
			files = append(files, textfile.File{Name: side.name + "_features.csv", Encode: features},
				textfile.File{Name: side.name + "_groups.csv", Encode: members})
		}
	}
	return textfile.WriteDir(dir, append(files, textfile.File{Name: "observations.csv", Encode: d.writeEntries}))
}

func (d *Data) writeEntries(w io.Writer) error {
	type line struct {
		Entry
		set string
	}
	var lines []line
	for _, s := range d.sets() {
		for _, e := range *s.entries {
			lines = append(lines, line{e, s.file})
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(a.Row-b.Row, a.Col-b.Col) })
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "row,col,value,set")
	var text []byte
	for _, l := range lines {
		text = strconv.AppendInt(text[:0], int64(l.Row), 10)
		text = strconv.AppendInt(append(text, ','), int64(l.Col), 10)
		text = strconv.AppendFloat(append(text, ','), l.Value, 'g', 17, 64)
		text = append(append(append(text, ','), l.set...), '\n')
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	return b.Flush()
}
