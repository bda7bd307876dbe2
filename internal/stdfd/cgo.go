//go:build unix && cgo

package stdfd

/*
#include <errno.h>
#include <fcntl.h>

static int closed_at_start[3];

// Constructors run before the Go runtime.
__attribute__((constructor)) static void look(void) {
	for (int fd = 0; fd < 3; fd++)
		closed_at_start[fd] = fcntl(fd, F_GETFD) == -1 && errno == EBADF;
}

static int was_closed(int fd) { return closed_at_start[fd]; }
*/
import "C"

func closed(fd int) bool { return fd >= 0 && fd < 3 && C.was_closed(C.int(fd)) != 0 }
