/* Matrix Market coordinate files, as rows in compressed form.
 *
 * Takes a plain file: real, integer or pattern; general, symmetric or skew-symmetric. Gives A, or its transpose, with the columns of
 * each row in ascending order and the entries of a place summed. Knows nothing of any solver.
 */
#ifndef PEERS_COORDINATE_H
#define PEERS_COORDINATE_H

#include <stdint.h>

typedef struct {
    int64_t nrows, ncols, nnz;
    int64_t *start;  /* nrows + 1 */
    int64_t *column; /* nnz, from 0 */
    double *value;   /* nnz */
} Rows;

/* The file's matrix; that of its transpose if the matrix is wide and `tall` is set (`*transposed` says so). Ends the program on a
 * malformed file, with its name. */
Rows read_coordinate(const char *path, int tall, int *transposed);

void free_rows(Rows *rows);

/* r = b - A x, g = A' r; b has nrows entries, x and g ncols. */
void residuals(const Rows *a, const double *b, const double *x, double *r, double *g);

#endif
