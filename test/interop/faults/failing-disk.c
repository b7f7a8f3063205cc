/*
 * A disk that fails, for one process (LD_PRELOAD): writes and syncs of the files of its database do
 * what the file FAILING_DISK_MODE says.
 *
 *   ok          nothing fails
 *   write N     writes fail with errno N
 *   sync N      syncs fail with errno N; what was written is readable but may not be on the disk
 *   slow N      each sync takes N ms longer
 *
 * Each call about the log (-wal) is a line in FAILING_DISK_CALLS: "w OFFSET LENGTH", "s ok", "s failed".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_database(int fd, int *is_log) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  *is_log = strstr(path, ".db-wal") != NULL;
  return *is_log || strstr(path, ".db") != NULL;
}

static int read_mode(char *mode) {
  char text[64] = "ok";
  int number = 0, fd = open(getenv("FAILING_DISK_MODE"), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t length = read(fd, text, sizeof text - 1);
    if (length > 0) text[length] = 0;
    close(fd);
  }
  sscanf(text, "%15s %d", mode, &number);
  return number;
}

static void note(const char *line) {
  int fd = open(getenv("FAILING_DISK_CALLS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) abort();
  if (write(fd, line, strlen(line)) < 0) abort();
  close(fd);
}

static int sync_as(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int is_log = 0;
  if (!is_database(fd, &is_log)) return real(fd);
  char mode[16] = "ok";
  int number = read_mode(mode);
  int fails = strcmp(mode, "sync") == 0;
  if (strcmp(mode, "slow") == 0) usleep(number * 1000);
  int result = fails ? -1 : real(fd);
  if (is_log) note(result == 0 ? "s ok\n" : "s failed\n");
  if (fails) errno = number;
  return result;
}

int fsync(int fd) { return sync_as("fsync", fd); }
int fdatasync(int fd) { return sync_as("fdatasync", fd); }

static ssize_t write_as(const char *name, int fd, const void *bytes, size_t count, off64_t offset) {
  ssize_t (*real)(int, const void *, size_t, off64_t) =
      (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, name);
  int is_log = 0;
  if (!is_database(fd, &is_log)) return real(fd, bytes, count, offset);
  char mode[16] = "ok";
  int number = read_mode(mode);
  if (strcmp(mode, "write") == 0) {
    errno = number;
    return -1;
  }
  ssize_t result = real(fd, bytes, count, offset);
  if (is_log && result > 0) {
    char line[64];
    snprintf(line, sizeof line, "w %lld %zd\n", (long long)offset, result);
    note(line);
  }
  return result;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  return write_as("pwrite64", fd, bytes, count, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  return write_as("pwrite64", fd, bytes, count, offset);
}
