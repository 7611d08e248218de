/* Before libfaketime on LD_PRELOAD: what is asked of any clock but the wall clock goes to the kernel as it is.
 *
 * libfaketime spoils sleeps until a time of the monotonic clock (EINVAL; Python's time.sleep() is one) though that clock is left alone.
 * It also locks itself out where an allocator needs a condition variable while it sets itself up (jemalloc, in Debian's Redis): until all
 * is loaded these are made here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int loaded;

static int wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*faked)(clockid_t, struct timespec *);
    if (!wall(clock) || !loaded)
        return syscall(SYS_clock_gettime, clock, now);
    if (!faked)
        faked = dlsym(RTLD_NEXT, "clock_gettime");
    return faked(clock, now);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    static int (*faked)(clockid_t, int, const struct timespec *, struct timespec *);
    if (!wall(clock)) {
        int before = errno;
        int failed = syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0;
        errno = before;
        return failed;
    }
    if (!faked)
        faked = dlsym(RTLD_NEXT, "clock_nanosleep");
    return faked(clock, flags, until, left);
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    static int (*faked)(pthread_cond_t *, const pthread_condattr_t *);
    if (!loaded && !attributes) {
        *condition = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        return 0;
    }
    if (!faked)
        faked = dlsym(RTLD_NEXT, "pthread_cond_init");
    return faked(condition, attributes);
}

__attribute__((constructor)) static void set_up(void)
{
    struct timespec now;
    int (*faked)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    if (faked)
        faked(CLOCK_REALTIME, &now);
    loaded = 1;
}
