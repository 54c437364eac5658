# libcrypto: the headers the module is compiled with, the library the tests
# link, and the folder in which libcrypto looks for modules.
find_package(PkgConfig REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
pkg_get_variable(libcrypto_modulesdir libcrypto modulesdir)
if(NOT libcrypto_modulesdir)
    set(libcrypto_modulesdir ${CMAKE_INSTALL_FULL_LIBDIR}/ossl-modules)
endif()
set(BULKCIPHER_MODULESDIR "${libcrypto_modulesdir}" CACHE PATH
    "Where the module is installed: libcrypto's own folder of modules")
