package paper

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killRepeats makes the work longer than 20 lives of the process.
const killRepeats = 10

// victim is set in the process that is killed.
const victim = "CONETUNE_TEST_KILLED"

// TestVictim is the work of the process that is killed; on its own it does nothing.
func TestVictim(t *testing.T) {
	dir := os.Getenv(victim)
	if dir == "" {
		t.Skip("run by TestKill")
	}
	o := small(t, os.Getenv(victim+"_DATA"), killRepeats)
	o.Dir, o.Resume = dir, true
	_, err := Run(context.Background(), o)
	require.NoError(t, err)
}

// A process that is killed without warning at random moments and started again leaves the tables of an undisturbed run.
func TestKill(t *testing.T) {
	data := tabular(t)
	whole := small(t, data, killRepeats)
	do(t, whole)
	dir := filepath.Join(t.TempDir(), "out")
	temporary := t.TempDir() // which killed processes leave their own folders in
	rng := rand.New(rand.NewPCG(7, 7))
	killed := 0
	for range 20 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestVictim$")
		cmd.Env = append(os.Environ(), victim+"="+dir, victim+"_DATA="+data, "TMPDIR="+temporary, "TMP="+temporary, "TEMP="+temporary)
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() != nil {
			killed++
		}
	}
	last := small(t, data, killRepeats)
	last.Dir, last.Resume = dir, true
	do(t, last)
	require.Equal(t, errorTables(t, whole.Dir), errorTables(t, dir))
	requireNoLeftovers(t, dir)
	require.Positive(t, killed)
	t.Logf("killed %d times", killed)
}
