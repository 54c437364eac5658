# IBM Z, big-endian: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/s390x.cmake
# Debian packages: gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x)
