/* What StarPU needs for an empty task with two accesses: the graphs of ../overhead.rs, for comparison.
 *
 *     overhead GRAPH TASKS        GRAPH: independent chain random memory
 *
 * Workers and policy come by StarPU's own environment (STARPU_NCPU, STARPU_SCHED). Prints nanoseconds per task from the first
 * submission to the end of the last task; for `memory` bytes of the heap per task in flight: a chain behind a task that waits
 * until all are submitted. Handles have no data (void interface), tasks are made with starpu_task_create, the cheapest way. */
#include <malloc.h>
#include <starpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HANDLES = 4096 };

static volatile int go;

static void empty(void *buffers[], void *arg) { (void)buffers, (void)arg; }

static void hold(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
    while (!go)
        sched_yield();
}

static struct starpu_codelet read_write = {
    .cpu_funcs = {empty}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "empty"};
static struct starpu_codelet first = {
    .cpu_funcs = {hold}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "hold"};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * t.tv_sec + t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *graph = argv[1];
    const uint32_t tasks = strtoul(argv[2], NULL, 10);
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf) != 0)
        return 1;
    static starpu_data_handle_t handles[HANDLES];
    for (int h = 0; h < HANDLES; h++)
        starpu_void_data_register(&handles[h]);

    const int independent = !strcmp(graph, "independent"), random = !strcmp(graph, "random");
    const int memory = !strcmp(graph, "memory");
    uint64_t state = 1;
    const size_t heap = mallinfo2().uordblks + mallinfo2().hblkhd;
    const double begin = now_ns();
    for (uint32_t i = 0; i < tasks; i++) {
        uint32_t a = 0, b = 1;
        if (independent)
            a = i % (HANDLES / 2), b = HANDLES / 2 + i % (HANDLES / 2);
        if (random) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            a = (state >> 40) % 64, b = (a + 1 + (state >> 50) % 63) % 64;
        }
        struct starpu_task *task = starpu_task_create();
        task->cl = memory && i == 0 ? &first : &read_write;
        task->handles[0] = handles[a];
        task->handles[1] = handles[b];
        task->priority = i % 100 < 50 ? 0 : 1;
        if (starpu_task_submit(task) != 0)
            return 1;
    }
    const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    go = 1;
    starpu_task_wait_for_all();
    const double end = now_ns();
    if (memory)
        printf("%.0f\n", (double)(after - heap) / tasks);
    else
        printf("%.0f\n", (end - begin) / tasks);
    fflush(stdout);
    for (int h = 0; h < HANDLES; h++)
        starpu_data_unregister(handles[h]);
    starpu_shutdown();
    return 0;
}
