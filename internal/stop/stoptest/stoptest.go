// Package stoptest has a context that ends at a look at it that is known, in place of a time.
package stoptest

import (
	"context"
	"sync"
)

// Context ends when its Err is asked for the At-th time, counted from zero.
type Context struct {
	context.Context
	// Cause is what Err then returns, context.Canceled unless it is set before.
	Cause error

	mu     sync.Mutex
	at     int
	looks  int
	ended  bool
	closed chan struct{}
}

// After returns a context that ends at look number at.
func After(at int) *Context {
	return &Context{Context: context.Background(), Cause: context.Canceled, at: at, closed: make(chan struct{})}
}

// Err counts a look.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	if c.looks <= c.at {
		return nil
	}
	if c.looks == c.at+1 && !c.ended {
		c.ended = true
		close(c.closed)
	}
	return c.Cause
}

// End ends the context now.
func (c *Context) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.at, c.ended = c.looks, true
		close(c.closed)
	}
}

// Done is closed at the look that ends the context.
func (c *Context) Done() <-chan struct{} { return c.closed }

// Looks returns how often Err was asked for.
func (c *Context) Looks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks
}
