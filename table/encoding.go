package table

import (
	"bytes"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// utf16Text is the UTF-16 that a text begins as, nil for other text: in the order of its mark, or where it has none, as
// the zeros of plain letters tell.
func utf16Text(head []byte, asked string) encoding.Encoding {
	big := unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	little := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return big
	}
	head = head[:min(len(head), 1<<10)&^1]
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	pairs := len(head) / 2
	switch {
	case pairs == 0:
	case 10*zeros[0] > 6*pairs && zeros[1] == 0:
		return big
	case 10*zeros[1] > 6*pairs && zeros[0] == 0, asked == UTF16:
		return little
	}
	return nil
}

// decodeLatin1 turns text of Windows-1252, which holds Latin-1, into UTF-8.
func decodeLatin1(text []byte) string {
	out, err := charmap.Windows1252.NewDecoder().Bytes(text)
	if err != nil { // all bytes are characters
		return string(text)
	}
	return string(out)
}
