# `cpack` in the build folder makes a Debian package of what cmake --install
# installs. The module's folder is absolute, whatever the prefix: libcrypto
# looks nowhere else.
set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "the bulkcipher project <root@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "faster AES-CBC, AES-GCM, ChaCha20-Poly1305 and POLY1305 for OpenSSL 3")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
