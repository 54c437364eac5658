# 32-bit x86: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/i386.cmake
# Debian packages: gcc-i686-linux-gnu libc6-dev-i386-cross qemu-user
# An emulator, as not every 64-bit kernel runs 32-bit programs. gcc -m32 itself
# would need gcc-multilib, which excludes the other cross compilers.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-i386)
