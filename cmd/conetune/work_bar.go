package main

import (
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/conetune/conetune/bench/paper"
)

// workBar shows on a terminal how much of a list of work is done, and how long the rest may take.
type workBar struct {
	container *mpb.Progress // nil when nobody looks
	bar       *mpb.Bar
	text      string
	left      atomic.Int64 // nanoseconds
}

func (a *app) newWorkBar(text string) *workBar {
	b := &workBar{text: text}
	if a.terminal() {
		b.container = mpb.New(mpb.WithOutput(a.stderr), mpb.WithAutoRefresh())
	}
	return b
}

func (b *workBar) show(p paper.Progress) {
	if b.container == nil {
		return
	}
	b.left.Store(int64(p.Left))
	if b.bar == nil {
		left := decor.Any(func(decor.Statistics) string {
			if d := time.Duration(b.left.Load()); d > 0 {
				return "about " + d.Round(time.Second).String() + " left"
			}
			return ""
		})
		b.bar = b.container.AddBar(int64(p.All), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(b.text+" ")),
			mpb.AppendDecorators(decor.CountersNoUnit("%d of %d "), left))
	}
	b.bar.SetCurrent(int64(p.Done))
}

// clear removes the bar.
func (b *workBar) clear() {
	if b.container == nil {
		return
	}
	if b.bar != nil {
		b.bar.Abort(true)
	}
	b.container.Wait()
}
