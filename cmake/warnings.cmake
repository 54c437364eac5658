# One list of warnings for every target; errors only where we ask for them
# (BULKCIPHER_WERROR, set by test/run.sh), not for people who build a release.
add_compile_options(
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wpointer-arith -Wcast-qual -Wvla -Wundef)
if(BULKCIPHER_WERROR)
    add_compile_options(-Werror)
endif()
