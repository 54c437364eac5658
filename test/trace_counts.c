/*
 * Prints what the tracing provider counted:
 *
 *     trace_counts FILE              one line per algorithm that was used
 *     trace_counts FILE NAME BYTES   status 0 if NAME encrypted and decrypted
 *                                    at least BYTES together
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_counts.h"

int main(int argc, char **argv)
{
    struct trace_row rows[TRACE_ROWS] = {0};
    FILE *f = argc == 2 || argc == 4 ? fopen(argv[1], "rb") : NULL;
    uint64_t bytes = 0;
    size_t n, i;

    if (!f) {
        fprintf(stderr, "trace_counts: no counts: the module was not loaded\n");
        return 2;
    }
    n = fread(rows, sizeof(*rows), TRACE_ROWS, f);
    fclose(f);
    for (i = 0; i < n; i++) {
        if (rows[i].contexts && argc == 2)
            printf("%-18s %8" PRIu64 " contexts %12" PRIu64
                   " bytes encrypted %12" PRIu64 " decrypted\n",
                   rows[i].name, rows[i].contexts, rows[i].encrypted,
                   rows[i].decrypted);
        if (argc == 4 && strcmp(rows[i].name, argv[2]) == 0)
            bytes = rows[i].encrypted + rows[i].decrypted;
    }
    return argc == 4 && bytes < strtoull(argv[3], NULL, 10);
}
