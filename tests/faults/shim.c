// Loaded into a process before the C library: file calls on paths below FAULT_ROOT fail as a bad disk makes them fail.
// FAULT_CALLS names the calls, FAULT_ERRNO the error, FAULT_AT the first call that fails (0: none), FAULT_ONCE=1 only
// that one. Opening /nut-fault/reset counts anew; opening /nut-fault/seen fails with EEXIST once a call was failed.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int seen, struck;

static int fails(const char *call, const char *path) {
  const char *root = getenv("FAULT_ROOT"), *calls = getenv("FAULT_CALLS");
  if (!root || !calls || !path || strncmp(path, root, strlen(root)) != 0 || !strstr(calls, call)) return 0;
  int at = atoi(getenv("FAULT_AT") ? getenv("FAULT_AT") : "0"), now = __sync_add_and_fetch(&seen, 1);
  if (at == 0 || now < at || (now > at && getenv("FAULT_ONCE") && *getenv("FAULT_ONCE") == '1')) return 0;
  struck = 1;
  errno = atoi(getenv("FAULT_ERRNO"));
  return 1;
}

static int fails_fd(const char *call, int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opening(const char *path, int flags, mode_t mode, int (*real)(const char *, int, ...)) {
  if (strcmp(path, "/nut-fault/reset") == 0) { seen = 0; struck = 0; errno = ENOENT; return -1; }
  if (strcmp(path, "/nut-fault/seen") == 0) { errno = struck ? EEXIST : ENOENT; return -1; }
  int writes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  if (fails(writes ? ",create," : ",open,", path)) return -1;
  return real(path, flags, mode);
}
#define OPEN(name) int name(const char *path, int flags, ...) { va_list a; va_start(a, flags); mode_t mode = va_arg(a, mode_t); va_end(a); return opening(path, flags, mode, REAL(name)); }
OPEN(open) OPEN(open64)

#define PATHED(name, word, args, call) int name args { return fails(word, path) ? -1 : REAL(name) call; }
PATHED(mkdir, ",mkdir,", (const char *path, mode_t mode), (path, mode))
PATHED(unlink, ",unlink,", (const char *path), (path))
PATHED(rmdir, ",unlink,", (const char *path), (path))
PATHED(chmod, ",chmod,", (const char *path, mode_t mode), (path, mode))
PATHED(stat, ",stat,", (const char *path, struct stat *s), (path, s))
PATHED(lstat, ",stat,", (const char *path, struct stat *s), (path, s))
PATHED(statx, ",stat,", (int dir, const char *path, int flags, unsigned mask, struct statx *s), (dir, path, flags, mask, s))
PATHED(link, ",link,", (const char *from, const char *path), (from, path))
PATHED(symlink, ",link,", (const char *from, const char *path), (from, path))
PATHED(rename, ",rename,", (const char *from, const char *path), (from, path))
DIR *opendir(const char *path) { return fails(",list,", path) ? NULL : REAL(opendir)(path); }
int scandir(const char *path, struct dirent ***list, int (*keep)(const struct dirent *), int (*order)(const struct dirent **, const struct dirent **)) { return fails(",list,", path) ? -1 : REAL(scandir)(path, list, keep, order); }
int scandir64(const char *path, struct dirent64 ***list, int (*keep)(const struct dirent64 *), int (*order)(const struct dirent64 **, const struct dirent64 **)) { return fails(",list,", path) ? -1 : REAL(scandir64)(path, list, keep, order); }

#define OPENED(result, name, word, args, call) result name args { return fails_fd(word, fd) ? -1 : REAL(name) call; }
OPENED(ssize_t, write, ",write,", (int fd, const void *b, size_t n), (fd, b, n))
OPENED(ssize_t, pwrite, ",write,", (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
OPENED(ssize_t, pwrite64, ",write,", (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
OPENED(ssize_t, writev, ",write,", (int fd, const struct iovec *v, int n), (fd, v, n))
OPENED(ssize_t, read, ",read,", (int fd, void *b, size_t n), (fd, b, n))
OPENED(ssize_t, pread, ",read,", (int fd, void *b, size_t n, off_t o), (fd, b, n, o))
OPENED(ssize_t, pread64, ",read,", (int fd, void *b, size_t n, off64_t o), (fd, b, n, o))
OPENED(ssize_t, copy_file_range, ",write,", (int in, off64_t *a, int fd, off64_t *b, size_t n, unsigned flags), (in, a, fd, b, n, flags))
OPENED(int, fsync, ",fsync,", (int fd), (fd))
OPENED(int, fdatasync, ",fsync,", (int fd), (fd))
OPENED(int, ftruncate, ",write,", (int fd, off_t n), (fd, n))
OPENED(int, ftruncate64, ",write,", (int fd, off64_t n), (fd, n))
OPENED(int, fchmod, ",chmod,", (int fd, mode_t mode), (fd, mode))
