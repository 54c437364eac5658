/*
 * The file into which the tracing provider counts: an array of rows, mapped
 * shared, so that every process of a program adds to the same numbers and they
 * outlive a program which never unloads its providers.
 */
#ifndef BC_TRACE_COUNTS_H
#define BC_TRACE_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

#define TRACE_ROWS 32 /* algorithms */

struct trace_row {
    char name[40];                         /* first of the algorithm's names */
    _Atomic uint64_t contexts;             /* made, copies included */
    _Atomic uint64_t encrypted, decrypted; /* bytes; a MAC's in encrypted */
};

#endif
