/*
 * Errors go through the core's upcalls, because the module links no libcrypto.
 *
 * core_vset_error() takes a bare reason for an error of the provider's own
 * library, but one with the bits of a library set for an error of that library.
 * Packing ERR_LIB_PROV makes our errors equal to the default provider's.
 */
#include <stdarg.h>

#include "prov.h"

int prov_raise_at(const struct prov *prov, uint32_t error, const char *file,
                  int line, const char *func, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    prov->new_error(prov->handle);
    prov->set_error_debug(prov->handle, file, line, func);
    prov->vset_error(prov->handle, error, format, args);
    va_end(args);
    return 0;
}

const OSSL_ITEM prov_reason_strings[] = {
#define X(name, number, text) {number, (void *)(uintptr_t)(text)},
    PROV_REASONS(X)
#undef X
        {0, NULL},
};
