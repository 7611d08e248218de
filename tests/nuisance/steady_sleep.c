/* Before libfaketime on LD_PRELOAD: it spoils sleeps until a time of the monotonic clock (EINVAL), though that clock is left alone.
 * Python's time.sleep() is one. They go to the kernel as they are. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    int before = errno;
    int failed = syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0;
    errno = before;
    return failed;
}
