/* See coordinate.h. The file is read as a whole and scanned by hand: numbers of few digits are put together exactly, the others are
 * left to strtod. */
#include "coordinate.h"
#include "common.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef struct {
    const char *at, *end;
    const char *path;
} Text;

static void malformed(const Text *text, const char *what)
{
    fprintf(stderr, "%s: %s\n", text->path, what);
    exit(1);
}

static Text load(const char *path)
{
    Text text = {NULL, NULL, path};
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) malformed(&text, "cannot be opened");
    long size = ftell(file);
    rewind(file);
    char *all = allocate((size_t) size + 1, 1); /* and a zero at the end, where strtod stops */
    if (fread(all, 1, (size_t) size, file) != (size_t) size) malformed(&text, "cannot be read");
    fclose(file);
    text.at = all;
    text.end = all + size;
    return text;
}

static void skip_space(Text *text)
{
    while (text->at < text->end && isspace((unsigned char) *text->at)) text->at++;
}

static void skip_line(Text *text)
{
    while (text->at < text->end && *text->at != '\n') text->at++;
    if (text->at < text->end) text->at++;
}

static int64_t integer(Text *text)
{
    skip_space(text);
    const char *begin = text->at;
    int64_t value = 0;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
        if (value > (INT64_MAX - 9) / 10) malformed(text, "an integer is too large");
        value = 10 * value + (*text->at++ - '0');
    }
    if (text->at == begin) malformed(text, "an integer is missing");
    return value;
}

/* Up to 15 digits and a power of ten that a double holds exactly: one rounding, so the right one. */
static double number(Text *text)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    skip_space(text);
    const char *begin = text->at, *p = begin;
    int negative = *p == '-', digits = 0, scale = 0, exponent = 0;
    if (*p == '-' || *p == '+') p++;
    int64_t mantissa = 0;
    for (int point = 0;; p++) {
        if (*p == '.' && !point) {
            point = 1;
        } else if (*p >= '0' && *p <= '9' && digits < 18) {
            mantissa = 10 * mantissa + (*p - '0');
            digits++;
            scale -= point;
        } else {
            break;
        }
    }
    if ((*p == 'e' || *p == 'E') && digits) {
        char *after;
        exponent = (int) strtol(p + 1, &after, 10);
        p = after;
    }
    scale += exponent;
    int ended = p >= text->end || isspace((unsigned char) *p);
    if (ended && digits > 0 && mantissa < (INT64_C(1) << 53) && scale >= -22 && scale <= 22) {
        double value = scale < 0 ? (double) mantissa / power[-scale] : (double) mantissa * power[scale];
        text->at = p;
        return negative ? -value : value;
    }
    char *after;
    double value = strtod(begin, &after);
    if (after == begin) malformed(text, "a number is missing");
    text->at = after;
    return value;
}

typedef struct {
    int64_t nrows, ncols, count;
    int64_t *row, *column;
    double *value;
} Triplets;

static Triplets triplets(Text *text)
{
    char banner[5][64] = {"", "", "", "", ""};
    char first[256] = "";
    size_t length = strcspn(text->at, "\r\n");
    snprintf(first, sizeof first, "%.*s", (int) (length < 255 ? length : 255), text->at);
    if (sscanf(first, "%63s %63s %63s %63s %63s", banner[0], banner[1], banner[2], banner[3], banner[4]) != 5 ||
        strcasecmp(banner[0], "%%MatrixMarket") || strcasecmp(banner[1], "matrix") || strcasecmp(banner[2], "coordinate"))
        malformed(text, "not a Matrix Market coordinate file");
    int pattern = !strcasecmp(banner[3], "pattern");
    if (!pattern && strcasecmp(banner[3], "real") && strcasecmp(banner[3], "integer"))
        malformed(text, "only real, integer and pattern matrices are read");
    double mirror = !strcasecmp(banner[4], "symmetric") ? 1.0 : !strcasecmp(banner[4], "skew-symmetric") ? -1.0 : 0.0;
    if (mirror == 0.0 && strcasecmp(banner[4], "general")) malformed(text, "only general and symmetric matrices are read");

    while (text->at < text->end && *text->at == '%') skip_line(text);
    Triplets t = {integer(text), integer(text), 0, NULL, NULL, NULL};
    int64_t lines = integer(text);
    size_t room = (size_t) lines * (mirror != 0.0 ? 2 : 1);
    t.row = allocate(room, sizeof *t.row);
    t.column = allocate(room, sizeof *t.column);
    t.value = allocate(room, sizeof *t.value);
    for (int64_t k = 0; k < lines; k++) {
        int64_t i = integer(text) - 1, j = integer(text) - 1;
        double v = pattern ? 1.0 : number(text);
        if (i < 0 || i >= t.nrows || j < 0 || j >= t.ncols) malformed(text, "an entry lies outside of the matrix");
        t.row[t.count] = i;
        t.column[t.count] = j;
        t.value[t.count++] = v;
        if (mirror != 0.0 && i != j) {
            t.row[t.count] = j;
            t.column[t.count] = i;
            t.value[t.count++] = mirror * v;
        }
    }
    return t;
}

/* Places to begin at, from how often each of n keys occurs. */
static int64_t *starts(const int64_t *key, int64_t count, int64_t n)
{
    int64_t *start = allocate((size_t) n + 1, sizeof *start);
    for (int64_t k = 0; k < count; k++) start[key[k] + 1]++;
    for (int64_t i = 0; i < n; i++) start[i + 1] += start[i];
    return start;
}

/* Sorted by column and then, stably, by row; entries of one place come side by side and are summed. */
static Rows compress(Triplets *t)
{
    int64_t *by_column = allocate((size_t) t->count, sizeof *by_column);
    int64_t *next = starts(t->column, t->count, t->ncols);
    for (int64_t k = 0; k < t->count; k++) by_column[next[t->column[k]]++] = k;
    free(next);

    Rows a = {t->nrows, t->ncols, 0, NULL, NULL, NULL};
    a.start = starts(t->row, t->count, t->nrows);
    a.column = allocate((size_t) t->count, sizeof *a.column);
    a.value = allocate((size_t) t->count, sizeof *a.value);
    next = allocate((size_t) t->nrows, sizeof *next);
    if (t->nrows > 0) memcpy(next, a.start, (size_t) t->nrows * sizeof *next);
    for (int64_t q = 0; q < t->count; q++) {
        int64_t k = by_column[q], to = next[t->row[k]]++;
        a.column[to] = t->column[k];
        a.value[to] = t->value[k];
    }
    free(next);
    free(by_column);
    for (int64_t i = 0; i < a.nrows; i++) {
        int64_t begin = a.start[i], end = a.start[i + 1];
        a.start[i] = a.nnz;
        for (int64_t k = begin; k < end; k++) {
            if (a.nnz > a.start[i] && a.column[a.nnz - 1] == a.column[k]) {
                a.value[a.nnz - 1] += a.value[k];
            } else {
                a.column[a.nnz] = a.column[k];
                a.value[a.nnz++] = a.value[k];
            }
        }
    }
    a.start[a.nrows] = a.nnz;
    return a;
}

Rows read_coordinate(const char *path, int tall, int *transposed)
{
    Text text = load(path);
    char *all = (char *) text.at;
    Triplets t = triplets(&text);
    free(all);
    *transposed = tall && t.nrows < t.ncols;
    if (*transposed) {
        int64_t *list = t.row, n = t.nrows;
        t.row = t.column;
        t.column = list;
        t.nrows = t.ncols;
        t.ncols = n;
    }
    Rows a = compress(&t);
    free(t.row);
    free(t.column);
    free(t.value);
    return a;
}

void free_rows(Rows *rows)
{
    free(rows->start);
    free(rows->column);
    free(rows->value);
}

void residuals(const Rows *a, const double *b, const double *x, double *r, double *g)
{
    for (int64_t j = 0; j < a->ncols; j++) g[j] = 0.0;
    for (int64_t i = 0; i < a->nrows; i++) {
        double sum = b[i];
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) sum -= a->value[k] * x[a->column[k]];
        r[i] = sum;
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) g[a->column[k]] += a->value[k] * sum;
    }
}
