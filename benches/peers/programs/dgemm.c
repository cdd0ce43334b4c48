/* The matrix product of a BLAS: the peak beside which factorizations are judged.
 *
 *   dgemm LIBRARY THREADS N [N ...]
 *
 * Takes the shared library by name and prints one JSON line: GFlop/s of the best of several products C = A B of order N, for each N;
 * what the library says of itself. Only the best counts, since all that can happen to a product is to be slower.
 */
#define _GNU_SOURCE
#include "common.h"
#include <dlfcn.h>

typedef void Gemm(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *,
                  const double *, const int *, const double *, double *, const int *);

static double *random_matrix(size_t entries, uint64_t state)
{
    double *a = allocate(entries, sizeof *a);
    for (size_t k = 0; k < entries; k++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        a[k] = (double) (int64_t) state * 0x1p-63;
    }
    return a;
}

static double best_gflops(Gemm *gemm, int n)
{
    size_t entries = (size_t) n * (size_t) n;
    double *a = random_matrix(entries, 1), *b = random_matrix(entries, 2), *c = random_matrix(entries, 3);
    double one = 1.0, zero = 0.0, best = 1e300, spent = 0.0;
    /* The first warms up; about a second in all, five at least. */
    for (int k = 0; k < 6 || (spent < 1.0 && k < 40); k++) {
        double begin = now_s();
        gemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
        double time = now_s() - begin;
        spent += time;
        if (k > 0 && time < best) best = time;
    }
    free(a);
    free(b);
    free(c);
    return 2e-9 * n * n * n / best;
}

int main(int argc, char **argv)
{
    if (argc < 4) fail("usage: dgemm LIBRARY THREADS N [N ...]");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library) fail(dlerror());
    Gemm *gemm = (Gemm *) dlsym(library, "dgemm_");
    if (!gemm) fail("no dgemm_ in this library");
    void (*openblas_threads)(int) = (void (*)(int)) dlsym(library, "openblas_set_num_threads");
    void (*mkl_threads)(int) = (void (*)(int)) dlsym(library, "MKL_Set_Num_Threads");
    char *(*openblas_config)(void) = (char *(*) (void) ) dlsym(library, "openblas_get_config");
    char *(*openblas_core)(void) = (char *(*) (void) ) dlsym(library, "openblas_get_corename");
    void (*mkl_version)(char *, int) = (void (*)(char *, int)) dlsym(library, "MKL_Get_Version_String");
    int threads = atoi(argv[2]);
    if (openblas_threads) openblas_threads(threads);
    if (mkl_threads) mkl_threads(threads);
    char version[256] = "";
    if (mkl_version) mkl_version(version, sizeof version);

    json_begin();
    json_integer("threads", threads);
    json_text("version", mkl_version ? version : openblas_config ? openblas_config() : "");
    json_text("core", openblas_core ? openblas_core() : "");
    json_name("gflops");
    printf("{");
    for (int k = 3; k < argc; k++) printf("%s\"%d\": %.3f", k > 3 ? ", " : "", atoi(argv[k]), best_gflops(gemm, atoi(argv[k])));
    printf("}");
    json_end();
    return 0;
}
