/* MKL's sparse QR on one file: reads, analyses, factorizes, solves for b all ones, and prints one JSON line.
 *
 *   mkl_qr FILE THREADS
 *
 * It has no wide matrices: of one the transpose is factorized, and its least-squares problem solved ("transposed": true), another
 * problem than the shortest x of the others. It tells neither rank nor flops.
 */
#include "common.h"
#include "coordinate.h"
#include <mkl.h>
#include <mkl_sparse_qr.h>

static void check(sparse_status_t status, const char *step)
{
    static const char *const meaning[] = {"success",       "not initialized", "allocation failed",
                                          "invalid value", "execution failed", "internal error",
                                          "not supported"};
    if (status == SPARSE_STATUS_SUCCESS) return;
    int known = (int) status >= 0 && (size_t) status < sizeof meaning / sizeof *meaning;
    fprintf(stderr, "MKL, %s: %s\n", step, known ? meaning[status] : "unknown status");
    exit(1);
}

/* MKL's indices are int unless it is the ILP64 interface. */
static MKL_INT *narrow(const int64_t *from, int64_t count)
{
    MKL_INT *to = allocate((size_t) count, sizeof *to);
    for (int64_t k = 0; k < count; k++) {
        to[k] = (MKL_INT) from[k];
        if ((int64_t) to[k] != from[k]) fail("too large for MKL's indices");
    }
    return to;
}

int main(int argc, char **argv)
{
    if (argc != 3) fail("usage: mkl_qr FILE THREADS");
    int threads = atoi(argv[2]), transposed;
    mkl_set_num_threads(threads);

    double begin = now_s();
    Rows a = read_coordinate(argv[1], 1, &transposed);
    double read = now_s();

    MKL_INT *start = narrow(a.start, a.nrows + 1), *column = narrow(a.column, a.nnz);
    double *b = allocate((size_t) a.nrows, sizeof *b), *x = allocate((size_t) a.ncols, sizeof *x);
    for (int64_t i = 0; i < a.nrows; i++) b[i] = 1.0;
    sparse_matrix_t handle;
    struct matrix_descr shape = {.type = SPARSE_MATRIX_TYPE_GENERAL};
    check(mkl_sparse_d_create_csr(&handle, SPARSE_INDEX_BASE_ZERO, (MKL_INT) a.nrows, (MKL_INT) a.ncols, start, start + 1, column,
                                  a.value),
          "creation");
    check(mkl_sparse_qr_reorder(handle, shape), "analysis");
    double analysed = now_s();
    check(mkl_sparse_d_qr_factorize(handle, NULL), "factorization");
    double factorized = now_s();
    check(mkl_sparse_d_qr_solve(SPARSE_OPERATION_NON_TRANSPOSE, handle, NULL, SPARSE_LAYOUT_COLUMN_MAJOR, 1, x, (MKL_INT) a.ncols, b,
                                (MKL_INT) a.nrows),
          "solve");
    double solved = now_s();
    int64_t peak = peak_rss_bytes(); /* before the residuals */

    double *r = allocate((size_t) a.nrows, sizeof *r), *g = allocate((size_t) a.ncols, sizeof *g);
    residuals(&a, b, x, r, g);
    char version[256] = "";
    mkl_get_version_string(version, sizeof version);
    json_begin();
    json_text("solver", "mkl");
    json_text("library", version);
    json_integer("rows", transposed ? a.ncols : a.nrows);
    json_integer("cols", transposed ? a.nrows : a.ncols);
    json_integer("nnz", a.nnz);
    json_flag("transposed", transposed);
    json_integer("threads", threads);
    json_number("read_s", read - begin);
    json_number("analyse_s", analysed - read);
    json_number("factorize_s", factorized - analysed);
    json_number("solve_s", solved - factorized);
    json_number("total_s", solved - begin);
    json_number("norm_a", norm2(a.value, a.nnz));
    json_number("norm_b", norm2(b, a.nrows));
    json_number("norm_x", norm2(x, a.ncols));
    json_number("norm_r", norm2(r, a.nrows));
    json_number("norm_atr", norm2(g, a.ncols));
    json_integer("peak_rss_bytes", peak);
    json_end();
    return 0;
}
