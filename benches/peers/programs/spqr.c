/* SuiteSparseQR on one file: reads, analyses, factorizes, solves for b all ones, and prints one JSON line.
 *
 *   spqr FILE metis|colamd|amd|best h|x default|none THREADS
 *
 *   h        Householder vectors kept (SuiteSparseQR_C_factorize), then Q'b and a solve with R. Of a wide A the transpose is factorized
 *            and the shortest x formed: A' = Q R E', x = Q R^-T E' b.
 *   x        R and Q'b only (SuiteSparseQR_C_backslash); not for wide matrices, of which it gives no shortest x.
 *   default, none   the tolerance of rank detection.
 *
 * THREADS is what the BLAS was told in the environment, and only written down here. The file is read by CHOLMOD, as users of this
 * library do; its times of analysis and solve are the library's own, the factorization is the rest of the call.
 */
#define _GNU_SOURCE
#include "common.h"
#include <SuiteSparseQR_C.h>
#include <dlfcn.h>
#include <string.h>

typedef struct {
    double analyse_s, factorize_s, solve_s;
    cholmod_dense *x;
} Solved;

static int ordering_of(const char *name)
{
    static const struct {
        const char *name;
        int value;
    } known[] = {{"metis", SPQR_ORDERING_METIS},
                 {"colamd", SPQR_ORDERING_COLAMD},
                 {"amd", SPQR_ORDERING_AMD},
                 {"best", SPQR_ORDERING_BEST}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(known[k].name, name)) return known[k].value;
    fail("unknown ordering");
    return 0;
}

static const char *ordering_name(SuiteSparse_long used)
{
    switch (used) {
    case SPQR_ORDERING_METIS: return "metis";
    case SPQR_ORDERING_COLAMD: return "colamd";
    case SPQR_ORDERING_AMD: return "amd";
    case SPQR_ORDERING_NATURAL: return "natural";
    case SPQR_ORDERING_FIXED: return "fixed";
    default: return "other";
    }
}

/* Which BLAS answers: with MKL loaded before it, OpenBLAS is not asked. */
static const char *blas_name(void)
{
    if (dlsym(RTLD_DEFAULT, "MKL_Get_Version_String")) return "MKL";
    char *(*core)(void) = (char *(*) (void) ) dlsym(RTLD_DEFAULT, "openblas_get_corename");
    static char name[128];
    snprintf(name, sizeof name, "OpenBLAS %s", core ? core() : "?");
    return core ? name : "other";
}

static Solved keeping_h(cholmod_sparse *w, int transposed, cholmod_dense *b, int ordering, double tolerance,
                        cholmod_common *cc)
{
    double begin = now_s();
    SuiteSparseQR_C_factorization *qr = SuiteSparseQR_C_factorize(ordering, tolerance, w, cc);
    if (!qr) fail("SuiteSparseQR: no factorization (out of memory?)");
    double factorized = now_s();
    cholmod_dense *y, *x;
    if (transposed) {
        y = SuiteSparseQR_C_solve(SPQR_RTX_EQUALS_ETB, qr, b, cc);
        x = y ? SuiteSparseQR_C_qmult(SPQR_QX, qr, y, cc) : NULL;
    } else {
        y = SuiteSparseQR_C_qmult(SPQR_QTX, qr, b, cc);
        x = y ? SuiteSparseQR_C_solve(SPQR_RETX_EQUALS_B, qr, y, cc) : NULL;
    }
    if (!x) fail("SuiteSparseQR: no solution (out of memory?)");
    double solved = now_s();
    cholmod_l_free_dense(&y, cc);
    double analyse = cc->SPQR_analyze_time;
    return (Solved){analyse, factorized - begin - analyse, solved - factorized, x};
}

static Solved x_only(cholmod_sparse *a, cholmod_dense *b, int ordering, double tolerance, cholmod_common *cc)
{
    double begin = now_s();
    cholmod_dense *x = SuiteSparseQR_C_backslash(ordering, tolerance, a, b, cc);
    if (!x) fail("SuiteSparseQR: no solution (out of memory?)");
    double all = now_s() - begin;
    double analyse = cc->SPQR_analyze_time, solve = cc->SPQR_solve_time;
    return (Solved){analyse, all - analyse - solve, solve, x};
}

static double frobenius(cholmod_sparse *a, cholmod_common *cc)
{
    return norm2(a->x, cholmod_l_nnz(a, cc));
}

int main(int argc, char **argv)
{
    if (argc != 6) fail("usage: spqr FILE metis|colamd|amd|best h|x default|none THREADS");
    int ordering = ordering_of(argv[2]), keep = !strcmp(argv[3], "h");
    double tolerance = !strcmp(argv[4], "none") ? SPQR_NO_TOL : SPQR_DEFAULT_TOL;
    cholmod_common common, *cc = &common;
    cholmod_l_start(cc);

    double begin = now_s();
    FILE *file = fopen(argv[1], "r");
    if (!file) fail("the file cannot be opened");
    cholmod_sparse *a = cholmod_l_read_sparse(file, cc);
    fclose(file);
    if (!a) fail("the file cannot be read");
    if (a->stype) {
        cholmod_sparse *whole = cholmod_l_copy(a, 0, 1, cc);
        cholmod_l_free_sparse(&a, cc);
        a = whole;
    }
    double read = now_s();

    int transposed = a->nrow < a->ncol;
    if (transposed && !keep) fail("R and Q'b alone give no shortest x of a wide matrix");
    cholmod_sparse *w = transposed ? cholmod_l_transpose(a, 1, cc) : a;
    cholmod_dense *b = cholmod_l_ones(a->nrow, 1, CHOLMOD_REAL, cc);
    if (!w || !b) fail("out of memory");
    double prepared = now_s();
    Solved s = keep ? keeping_h(w, transposed, b, ordering, tolerance, cc) : x_only(a, b, ordering, tolerance, cc);
    double solved = now_s();
    int64_t peak = peak_rss_bytes(); /* before the residuals */

    double one[2] = {1, 0}, minus[2] = {-1, 0}, zero[2] = {0, 0};
    cholmod_dense *r = cholmod_l_copy_dense(b, cc), *g = cholmod_l_zeros(a->ncol, 1, CHOLMOD_REAL, cc);
    if (!r || !g) fail("out of memory");
    cholmod_l_sdmult(a, 0, minus, one, s.x, r, cc); /* r = b - A x */
    cholmod_l_sdmult(a, 1, one, zero, r, g, cc);    /* g = A' r */

    char version[64];
    snprintf(version, sizeof version, "SuiteSparseQR %d.%d.%d", SPQR_MAIN_VERSION, SPQR_SUB_VERSION, SPQR_SUBSUB_VERSION);
    json_begin();
    json_text("solver", "spqr");
    json_text("library", version);
    json_text("blas", blas_name());
    json_integer("rows", (int64_t) a->nrow);
    json_integer("cols", (int64_t) a->ncol);
    json_integer("nnz", cholmod_l_nnz(a, cc));
    json_flag("transposed", 0);
    json_text("ordering_used", ordering_name(cc->SPQR_istat[7]));
    json_integer("threads", atoi(argv[5]));
    json_number("read_s", read - begin);
    json_number("analyse_s", s.analyse_s + (prepared - read));
    json_number("factorize_s", s.factorize_s);
    json_number("solve_s", s.solve_s);
    json_number("total_s", solved - begin);
    json_number("flops", cc->SPQR_flopcount);
    json_integer("nnz_r", cc->SPQR_istat[0]); /* upper bounds, both */
    json_integer("nnz_h", cc->SPQR_istat[1]);
    json_integer("rank", cc->SPQR_istat[4]);
    json_number("tolerance", cc->SPQR_tol_used);
    json_number("norm_a", frobenius(a, cc));
    json_number("norm_b", norm2(b->x, (int64_t) b->nrow));
    json_number("norm_x", norm2(s.x->x, (int64_t) s.x->nrow));
    json_number("norm_r", norm2(r->x, (int64_t) r->nrow));
    json_number("norm_atr", norm2(g->x, (int64_t) g->nrow));
    json_integer("peak_rss_bytes", peak);
    json_end();
    return 0;
}
