# 64-bit Arm, little-endian: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64.cmake
# Debian packages: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
