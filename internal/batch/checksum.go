package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// dataFlags are the flags that name files or folders of data.
var dataFlags = []string{"data", "train", "val", "test", "dir", "row-features", "col-features", "groups"}

// checksums knows the content of files, each read once. It is safe for use by several goroutines.
type checksums struct {
	mu    sync.Mutex
	known map[string]func() string
}

// of is the checksum of the data of a job, enough to tell them apart; empty where they cannot be read.
func (c *checksums) of(j *Job) string {
	h := sha256.New()
	for _, flag := range dataFlags {
		path := j.Settings[flag]
		if path == "" {
			continue
		}
		sum := c.file(path)
		if sum == "" && flag != "groups" { // which may be a number
			return ""
		}
		fmt.Fprintf(h, "%s %s\n", flag, sum)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// file is the checksum of a file, or of all files of a folder.
func (c *checksums) file(path string) string {
	c.mu.Lock()
	if c.known == nil {
		c.known = map[string]func() string{}
	}
	sum, ok := c.known[path]
	if !ok {
		sum = sync.OnceValue(func() string { return checksum(path) })
		c.known[path] = sum
	}
	c.mu.Unlock()
	return sum()
}

func checksum(root string) string {
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.ToSlash(name), info.Size())
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(h, f)
		return err
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
