package table

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Order says in which order the bytes of UTF-16 come, nil for other text. Without a byte order mark the zeros of plain letters tell.
func utf16Order(head []byte, asked string) *byteOrder {
	big, little := byteOrder(0), byteOrder(1)
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return &little
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return &big
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
		return &big
	case 10*zeros[1] > 6*pairs && zeros[0] == 0, asked == UTF16:
		return &little
	}
	return nil
}

// byteOrder is the place of the low byte in a pair, minus one: 0 where the high byte comes first.
type byteOrder int

// utf16Reader turns UTF-16 into UTF-8.
type utf16Reader struct {
	r     io.Reader
	order byteOrder
	begun bool
	in    []byte // bytes of half a character are kept
	out   []byte
	room  [8 << 10]byte
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		var n int
		n, u.err = u.r.Read(u.room[:])
		u.in = append(u.in, u.room[:n]...)
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// decode takes all whole characters.
func (u *utf16Reader) decode() {
	u.out = u.out[:0]
	at := func(i int) rune {
		if u.order == 0 {
			return rune(u.in[i])<<8 | rune(u.in[i+1])
		}
		return rune(u.in[i+1])<<8 | rune(u.in[i])
	}
	i := 0
	for i+2 <= len(u.in) {
		c := at(i)
		if utf16.IsSurrogate(c) {
			if i+4 > len(u.in) && u.err == nil {
				break
			}
			low := rune(0)
			if i+4 <= len(u.in) {
				low = at(i + 2)
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				i += 2
			}
		}
		i += 2
		if !u.begun && c == 0xfeff { // the byte order mark
			u.begun = true
			continue
		}
		u.begun = true
		u.out = utf8.AppendRune(u.out, c)
	}
	u.in = append(u.in[:0], u.in[i:]...)
}

// windows1252 are the characters of the bytes from 80 to 9f in that encoding, which is Latin-1 elsewhere; unused ones are those of Latin-1.
var windows1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}

// decodeLatin1 turns text of Windows-1252, which holds Latin-1, into UTF-8.
func decodeLatin1(text []byte) string {
	var b strings.Builder
	for _, c := range text {
		if c >= 0x80 && c < 0xa0 {
			b.WriteRune(windows1252[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}
