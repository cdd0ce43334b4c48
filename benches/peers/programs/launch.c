/* Runs one program as the only child of a small process, and writes down what it took.
 *
 *   launch REPORT LIMIT_BYTES TOUCH_BYTES PROGRAM [ARGUMENT ...]
 *
 * REPORT gets one JSON line: exit status or signal, seconds by the monotonic clock, user and system seconds, peak resident memory, and
 * how often the program was taken off its processor. The address space of the program is bounded (0: it is not), and it is the first
 * that the system ends when memory runs out.
 *
 * Before that a process of its own touches TOUCH_BYTES and gives them back. The host of a virtual machine may have taken back what has
 * been free for some seconds: who touches it first waits for the host, several times as long as for the kernel, and more so with huge
 * pages. What the program takes shall be the machine's already.
 *
 * Why not from Python: a child's peak begins with that of the process that started it, and Python's is larger than small solves take.
 */
#include "common.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double) t.tv_sec + 1e-6 * (double) t.tv_usec;
}

/* Touches memory, in huge pages where they are to be had; not all of it when there is not enough. */
static void touch(size_t bytes)
{
    pid_t child = bytes > 0 ? fork() : -1;
    if (child == 0) {
        char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) {
            madvise(memory, bytes, MADV_HUGEPAGE);
            for (size_t at = 0; at < bytes; at += 4096) ((volatile char *) memory)[at] = 1;
        }
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: launch REPORT LIMIT_BYTES TOUCH_BYTES PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    char **program = argv + 4;
    touch((size_t) strtoull(argv[3], NULL, 10));
    struct rusage before;
    getrusage(RUSAGE_CHILDREN, &before);
    rlim_t limit = (rlim_t) strtoull(argv[2], NULL, 10);
    double begin = now_s();
    pid_t child = fork();
    if (child < 0) fail("cannot fork");
    if (child == 0) {
        FILE *first = fopen("/proc/self/oom_score_adj", "w");
        if (first) {
            fprintf(first, "1000");
            fclose(first);
        }
        struct rlimit bound = {limit, limit};
        if (limit > 0) setrlimit(RLIMIT_AS, &bound);
        execv(program[0], program);
        fprintf(stderr, "%s: %s\n", program[0], strerror(errno));
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    double wall = now_s() - begin;
    if (!freopen(argv[1], "w", stdout)) fail("cannot write the report");
    json_begin();
    json_integer("exit", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    json_integer("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    json_number("wall_s", wall);
    json_number("user_s", seconds(usage.ru_utime));
    json_number("system_s", seconds(usage.ru_stime));
    json_number("touch_cpu_s", seconds(before.ru_utime) + seconds(before.ru_stime));
    json_integer("peak_rss_bytes", (int64_t) usage.ru_maxrss * 1024);
    json_integer("preempted", usage.ru_nivcsw);
    json_end();
    return 0;
}
