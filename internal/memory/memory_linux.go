package memory

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// system is the smallest of physical memory, limits of control groups and limit of address space.
func system() int64 {
	n := limit(os.DirFS("/"))
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &r) == nil {
		n = int64(min(uint64(r.Cur), uint64(n)))
	}
	return n
}

// limit is what the files of a system say.
func limit(root fs.FS) int64 {
	if n := min(physical(root), groups(root)); n < unknown {
		return n
	}
	return Fallback
}

// unknown is larger than any memory.
const unknown = math.MaxInt64

// physical reads MemTotal, which is in KiB.
func physical(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range bytes.Lines(text) {
		words := bytes.Fields(line)
		if len(words) >= 2 && string(words[0]) == "MemTotal:" {
			if n, err := strconv.ParseInt(string(words[1]), 10, 44); err == nil && n > 0 {
				return n << 10
			}
		}
	}
	return unknown
}

// groups is the smallest limit of the control groups of this process and of those above. Lines
// of /proc/self/cgroup are number:controllers:path, and version 2 has number 0 without
// controllers. In a container, the folders may start further down than the path says: then
// none but the topmost is found, which is the container's.
func groups(root fs.FS) (least int64) {
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	least = unknown
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		top, file := "sys/fs/cgroup", "memory.max"
		if parts[1] != "" {
			if parts[1] != "memory" && !strings.HasPrefix(parts[1], "memory,") && !strings.Contains(parts[1]+",", ",memory,") {
				continue
			}
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if text, err := fs.ReadFile(root, path.Join(top, dir, file)); err == nil {
				// No limit is the word max, or about 2^63.
				if n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && n > 0 {
					least = min(least, n)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}
