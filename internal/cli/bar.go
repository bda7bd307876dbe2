//go:build !js

package cli

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

// newBar shows how much of a known amount of work is done, or with 0 the time, beside a text that changes.
func newBar(w io.Writer, all int64, text func() string) *bar {
	b := &bar{container: mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(65*time.Millisecond), mpb.WithAutoRefresh())}
	words := decor.Any(func(decor.Statistics) string { return textfile.Printable(text()) + "  " })
	if all > 0 {
		counts := decor.CountersNoUnit(" %d of %d ")
		b.bar = b.container.AddBar(all, mpb.BarRemoveOnComplete(), mpb.AppendDecorators(counts, words))
		return b
	}
	b.bar = b.container.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(2), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(words, decor.Elapsed(decor.ET_STYLE_GO)))
	return b
}

// set says how much is done, or that something changed.
func (b *bar) set(done int64) { b.bar.SetCurrent(done) }

// clear removes the line.
func (b *bar) clear() {
	b.bar.Abort(true)
	b.container.Wait()
}
