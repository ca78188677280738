/* Makes one call that writes fail, or all from that one on, on files under one folder. Loaded by LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[4096];
static long calls = 0, failing = 0, failed = 0;
static int error_number = 0, lasting = 0;

/* From now on count calls under the folder, and let number `at` fail (0: none). */
void faults_begin(const char *where, long at, int error, int lasts) {
    strncpy(folder, where, sizeof folder - 1);
    calls = failed = 0;
    failing = at;
    error_number = error;
    lasting = lasts;
}

long faults_end(void) {
    folder[0] = 0;
    return calls;
}

long faults_failed(void) { return failed; }

static int is_inside(const char *path) { return folder[0] && path && !strncmp(path, folder, strlen(folder)); }

static int is_file_inside(int file) {
    char link[64], path[4096];
    if (!folder[0])
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_inside(path);
}

static int fails(void) {
    calls++;
    if (!failing || calls < failing || (calls > failing && !lasting))
        return 0;
    failed++;
    errno = error_number;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t size) {
    return is_file_inside(file) && fails() ? -1 : REAL(write)(file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    return is_file_inside(file) && fails() ? -1 : REAL(pwrite)(file, data, size, at);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    return is_file_inside(file) && fails() ? -1 : REAL(pwrite64)(file, data, size, at);
}

int fsync(int file) { return is_file_inside(file) && fails() ? -1 : REAL(fsync)(file); }

int fdatasync(int file) { return is_file_inside(file) && fails() ? -1 : REAL(fdatasync)(file); }

int ftruncate(int file, off_t size) { return is_file_inside(file) && fails() ? -1 : REAL(ftruncate)(file, size); }

int ftruncate64(int file, off64_t size) { return is_file_inside(file) && fails() ? -1 : REAL(ftruncate64)(file, size); }

int rename(const char *from, const char *to) { return is_inside(to) && fails() ? -1 : REAL(rename)(from, to); }

int link(const char *from, const char *to) { return is_inside(to) && fails() ? -1 : REAL(link)(from, to); }
