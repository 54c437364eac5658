# The only place that gives instruction-set flags to files. Everything else is
# compiled for the baseline of the architecture, so that no stray instruction
# of a newer level can reach a processor that lacks it.
#
#   bc_isa_flags()   called in kernels/CMakeLists.txt after the target

function(bc_isa_flags)
endfunction()
