package memory

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// Files as Linux writes them: a machine, a container of version 2, a group of version 2 below a
// limited one, and version 1 seen from inside and outside of a container.
func TestLimit(t *testing.T) {
	const meminfo = "MemTotal:       16384000 kB\nMemFree:         1000000 kB\n"
	const machine = 16384000 << 10
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing to read", nil, Fallback},
		{"no groups", map[string]string{"proc/meminfo": meminfo}, machine},
		{"damaged", map[string]string{"proc/meminfo": "MemTotal: x kB\n", "proc/self/cgroup": "0\n\n"}, Fallback},
		{"version 2, no limit", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user.slice\n", "sys/fs/cgroup/user.slice/memory.max": "max\n",
		}, machine},
		{"version 2, container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, 1 << 29},
		{"version 2, the group above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/job/step\n",
			"sys/fs/cgroup/job/step/memory.max": "max\n", "sys/fs/cgroup/job/memory.max": "1073741824\n",
		}, 1 << 30},
		{"version 2, more than there is", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "99000000000\n",
		}, machine},
		{"version 1", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "8:pids:/\n4:memory:/a\n0::/\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "2147483648\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
		}, 1 << 31},
		{"version 1, container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:cpu,memory:/docker/0123\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1000000000\n",
		}, 1e9},
		{"no meminfo", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 1 << 29},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range c.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			require.Equal(t, c.want, limit(root))
		})
	}
}
