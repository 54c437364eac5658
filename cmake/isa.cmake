# The only place that gives instruction-set flags to files. Everything else is
# compiled for the baseline of the architecture, so that no stray instruction
# of a newer level can reach a processor that lacks it.
#
#   BC_X86_64        true if the x86 kernels are built: the compiler makes code
#                    for x86-64 (asked of the compiler, since -m32 does not
#                    show in CMAKE_SYSTEM_PROCESSOR) and knows all the flags
#   bc_isa_flags()   called in kernels/CMakeLists.txt after the target: flags
#                    for each of its files by the level at the end of its name
include(CheckCSourceCompiles)

set(BC_ISA_ssse3 -mssse3)
set(BC_ISA_aesni -msse4.1 -maes -mpclmul)
set(BC_ISA_avx2 -mavx2 -mbmi2)
set(BC_ISA_vaes256 -mavx2 -maes -mpclmul -mvaes -mvpclmulqdq)
set(BC_ISA_avx512 -mavx512f)
set(BC_ISA_vaes512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mbmi2
    -maes -mpclmul -mvaes -mvpclmulqdq)
set(BC_ISA_ifma -mavx512f -mavx512ifma -mbmi2)

string(REPLACE ";" " " CMAKE_REQUIRED_FLAGS "${BC_ISA_vaes512};-mavx512ifma")
check_c_source_compiles("
#ifndef __x86_64__
#error no x86 kernels
#endif
int main(void) { return 0; }" BC_X86_64)
unset(CMAKE_REQUIRED_FLAGS)

# gcc moves an expression to where it is used first (-ftree-ter), which in the
# AES files is out of the rounds it was put between. The GCM loop on Zen 5, core
# cycles for 8 vectors, encryption and decryption, gcc 12 with and without:
#   16 bytes 68.8 68.9 -> 63.8 63.4, 32 bytes 68.0 68.8 -> 66.9 66.1,
#   64 bytes 67.7 68.9 -> 67.2 65.1 (AES-128)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(BC_ISA_extra_aes -fno-tree-ter)
endif()

# gcc 12 brings two words together on the stack to make one vector of them, and
# the load of the vector waits until both stores have left the store queue: 4 ns
# for each partial block of GCM.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(BC_WORDS -fno-tree-slp-vectorize)
endif()

function(bc_isa_flags)
    get_target_property(sources bc_kernels SOURCES)
    foreach(source ${sources})
        if(source MATCHES "^x86/(.*)_([a-z0-9]+)\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "${BC_ISA_${CMAKE_MATCH_2}};${BC_ISA_extra_${CMAKE_MATCH_1}}")
        elseif(source STREQUAL "gcm.c")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "${BC_WORDS}")
        endif()
    endforeach()
endfunction()
