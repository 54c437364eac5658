# 32-bit x86, whose programs an x86-64 machine runs as they are:
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/i386.cmake
# Debian packages: gcc-i686-linux-gnu libc6-dev-i386-cross
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
