/* Runs one program as the only child of a small process, and writes down what it took.
 *
 *   launch REPORT LIMIT_BYTES PROGRAM [ARGUMENT ...]
 *
 * REPORT gets one JSON line: exit status or signal, seconds by the monotonic clock, user and system seconds, peak resident memory, and
 * how often the program was taken off its processor. The address space of the program is bounded (0: it is not), and it is the first
 * that the system ends when memory runs out.
 *
 * Why not from Python: a child's peak begins with that of the process that started it, and Python's is larger than small solves take.
 */
#include "common.h"
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double) t.tv_sec + 1e-6 * (double) t.tv_usec;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: launch REPORT LIMIT_BYTES PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
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
        execv(argv[3], argv + 3);
        fprintf(stderr, "%s: %s\n", argv[3], strerror(errno));
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
    json_integer("peak_rss_bytes", (int64_t) usage.ru_maxrss * 1024);
    json_integer("preempted", usage.ru_nivcsw);
    json_end();
    return 0;
}
