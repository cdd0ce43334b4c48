/* What the programs share: a clock, norms, and lines of JSON.
 *
 * Every function is small enough to stand in the header. Times are seconds of the monotonic clock. Numbers that are not finite are
 * written as Python's json module reads them (NaN, Infinity).
 */
#ifndef PEERS_COMMON_H
#define PEERS_COMMON_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static inline double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Most memory that this process has held, by its own account. When a large process starts this one by vfork, the account begins with
 * that process' own peak; launch.c is there so that it does not. */
static inline int64_t peak_rss_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t) usage.ru_maxrss * 1024;
}

/* ||x||_2, scaled so that large entries do not overflow. */
static inline double norm2(const double *x, int64_t n)
{
    double largest = 0.0, sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return fabs(x[i]);
        if (fabs(x[i]) > largest) largest = fabs(x[i]);
    }
    if (largest == 0.0) return 0.0;
    for (int64_t i = 0; i < n; i++) sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

/* Ends the program with one line on what went wrong; the driver shows it. */
static inline void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline void *allocate(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) fail("out of memory");
    return p;
}

/* Fields of one object: json_begin(), fields, json_end(). */
static int json_fields;

static inline void json_name(const char *name)
{
    printf("%s\"%s\": ", json_fields++ ? ", " : "", name);
}

static inline void json_begin(void)
{
    json_fields = 0;
    printf("{");
}

static inline void json_end(void)
{
    printf("}\n");
    fflush(stdout);
}

static inline void json_number(const char *name, double value)
{
    json_name(name);
    if (isnan(value))
        printf("NaN");
    else if (isinf(value))
        printf(value > 0 ? "Infinity" : "-Infinity");
    else
        printf("%.17g", value);
}

static inline void json_integer(const char *name, int64_t value)
{
    json_name(name);
    printf("%lld", (long long) value);
}

static inline void json_flag(const char *name, int value)
{
    json_name(name);
    printf(value ? "true" : "false");
}

static inline void json_text(const char *name, const char *value)
{
    json_name(name);
    putchar('"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') putchar('\\');
        putchar((unsigned char) *value < ' ' ? ' ' : *value);
    }
    putchar('"');
}

#endif
