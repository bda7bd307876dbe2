//go:build !js

package main

import (
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/conetune/conetune/internal/textfile"
)

// bar is a line on a terminal that is drawn again and again while work goes on.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
}

// newCounter shows how much of a known amount of work is done, and what left says about the rest.
func newCounter(w io.Writer, text string, all int64, left func() string) *bar {
	b := &bar{container: mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh())}
	rest := decor.Any(func(decor.Statistics) string { return left() })
	b.bar = b.container.AddBar(all, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(text+" ")),
		mpb.AppendDecorators(decor.CountersNoUnit("%d of %d "), rest))
	return b
}

// newSpinner shows a text that changes, and the time.
func newSpinner(w io.Writer, text func() string) *bar {
	b := &bar{container: mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(65*time.Millisecond), mpb.WithAutoRefresh())}
	b.bar = b.container.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(2),
		mpb.AppendDecorators(
			decor.Any(func(decor.Statistics) string { return textfile.Printable(text()) + "  " }),
			decor.Elapsed(decor.ET_STYLE_GO),
		),
		mpb.BarRemoveOnComplete(),
	)
	return b
}

// set says how much is done, step that something changed.
func (b *bar) set(done int64) { b.bar.SetCurrent(done) }
func (b *bar) step()          { b.bar.Increment() }

// clear removes the line.
func (b *bar) clear() {
	b.bar.Abort(true)
	b.container.Wait()
}
