/* To be loaded into a process (LD_PRELOAD), for which one folder then lies on a disk that may break.
 *
 * The folder is $BROKEN_FOLDER. As long as the file $BROKEN_ORDER is there, and names them, these calls fail with EIO
 * on whatever is below it:
 *
 *     sync   fsync and fdatasync: what is written is taken, and cannot be kept
 *     open   open: nothing is reached any more that is not in use already
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ordered(const char *call)
{
    char order[64];
    const char *path = getenv("BROKEN_ORDER");
    int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, order, sizeof order - 1);
    close(fd);
    order[length < 0 ? 0 : length] = '\0';
    return strstr(order, call) != NULL;
}

static int fails(const char *call, const char *path)
{
    const char *folder = getenv("BROKEN_FOLDER");
    if (folder == NULL || strncmp(path, folder, strlen(folder)) != 0 || !ordered(call))
        return 0;
    errno = EIO;
    return 1;
}

static int sync_fails(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    return fails("sync", path);
}

int fsync(int fd)
{
    return sync_fails(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_fails(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("open", path) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
