package main

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/conetune/conetune/internal/worklist"
)

// workBar shows on a terminal how much of a list of work is done, and how long the rest may take where that is known.
type workBar struct {
	terminal io.Writer // nil when nobody looks
	bar      *bar
	text     string
	left     atomic.Int64 // nanoseconds
}

func (a *app) newWorkBar(text string) *workBar {
	b := &workBar{text: text}
	if a.terminal() {
		b.terminal = a.stderr
	}
	return b
}

func (b *workBar) show(p worklist.Progress) {
	if b.terminal == nil {
		return
	}
	b.left.Store(int64(p.Left))
	if b.bar == nil {
		b.bar = newCounter(b.terminal, b.text, int64(p.All), func() string {
			if d := time.Duration(b.left.Load()); d > 0 {
				return "about " + d.Round(time.Second).String() + " left"
			}
			return ""
		})
	}
	b.bar.set(int64(p.Done))
}

// clear removes the bar.
func (b *workBar) clear() {
	if b.bar != nil {
		b.bar.clear()
	}
}
