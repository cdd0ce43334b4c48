// The bandwidth of memory on some threads: traffic THREADS MEGABYTES, GB/s of reading and of writing what was not read before.
//
// Each thread goes through arrays of its own, together so large. "write" is memset, which brings no line that it will overwrite; "read" are sums.
// Best of several rounds, in which all threads begin together. One line of JSON.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7 };

static pthread_barrier_t barrier;
static size_t bytes;
static double seconds[2][ROUNDS];
static volatile double sink;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double sum(const double *x, size_t n) {
    double s[8] = {0};
    for (size_t i = 0; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) s[k] += x[i + k];
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

static void *thread(void *is_first) {
    char *memory = malloc(bytes);
    if (!memory) exit(1);
    memset(memory, 1, bytes);
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < 2; kind++) {
            pthread_barrier_wait(&barrier);
            double begin = now();
            if (kind == 0)
                memset(memory, round, bytes);
            else
                sink = sum((double *)memory, bytes / sizeof(double));
            pthread_barrier_wait(&barrier);
            if (is_first) seconds[kind][round] = now() - begin;
        }
    }
    free(memory);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "traffic THREADS MEGABYTES\n");
        return 1;
    }
    int threads = atoi(argv[1]);
    if (threads < 1 || atoi(argv[2]) < 1) return 1;
    bytes = (size_t)atoi(argv[2]) * 1000000 / threads;
    pthread_barrier_init(&barrier, NULL, threads);
    pthread_t *all = calloc(threads, sizeof *all);
    for (int t = 1; t < threads; t++) pthread_create(&all[t], NULL, thread, NULL);
    thread(all);
    for (int t = 1; t < threads; t++) pthread_join(all[t], NULL);
    double best[2] = {1e300, 1e300};
    for (int kind = 0; kind < 2; kind++)
        for (int round = 0; round < ROUNDS; round++)
            if (seconds[kind][round] < best[kind]) best[kind] = seconds[kind][round];
    double all_bytes = (double)bytes * threads;
    printf("{\"threads\": %d, \"bytes\": %.0f, \"write_gb_s\": %.2f, \"read_gb_s\": %.2f}\n", threads, all_bytes, all_bytes / best[0] / 1e9,
           all_bytes / best[1] / 1e9);
    return 0;
}
