package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/conetune/conetune/internal/planted"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "0"}, {"-scale", "x"}, {"-scale", "-1"}, {"-backends", "nobody"}, {"-mix", "fruit"}, {"-mode", "idle"},
		{"extra"}, {"-n"},
		{"-replay", "verdict:0:all"}, {"-replay", "idle:0:all:1"}, {"-replay", "verdict:0:all:-1"},
	} {
		var out, errOut bytes.Buffer
		if status := run(context.Background(), args, &out, &errOut); status != 2 || errOut.Len() == 0 || out.Len() > 0 {
			t.Errorf("%q: status %d, output %q, error %q", args, status, out.String(), errOut.String())
		}
	}
}

// TestTable runs a few cases of every mode twice.
func TestTable(t *testing.T) {
	for _, mode := range []string{planted.Verdicts, planted.Updates, planted.Hostile, planted.Lies} {
		table := func(workers string) string {
			var out, errOut bytes.Buffer
			args := []string{"-mode", mode, "-n", "130", "-scale", "0,3", "-workers", workers}
			if status := run(context.Background(), args, &out, &errOut); status != 0 {
				t.Errorf("%s: status %d: %s%s", mode, status, out.String(), errOut.String())
			}
			text, _, _ := strings.Cut(out.String(), " answers") // times follow
			return text
		}
		if one, three := table("1"), table("3"); one != three || !strings.Contains(one, mode) {
			t.Errorf("%s: one worker\n%s\nthree\n%s", mode, one, three)
		}
	}
}

func TestReplay(t *testing.T) {
	var out bytes.Buffer
	if status := run(context.Background(), []string{"-replay", "verdict:0:all:2"}, &out, os.Stderr); status != 0 {
		t.Errorf("status %d", status)
	}
	if text := out.String(); !strings.Contains(text, `"Cones":[`) || !strings.Contains(text, "1 answers, 0 wrong") {
		t.Error(text)
	}
}
