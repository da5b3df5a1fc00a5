# Everything comes from the distribution's packages (scripts/setup.sh installs them).
find_package(Threads REQUIRED)
find_package(VulkanHeaders REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(pugixml REQUIRED)
find_package(benchmark REQUIRED)
find_package(GTest REQUIRED)
find_package(glslang REQUIRED)
find_path(VOLK_DIR volk.c REQUIRED)
find_path(XXHASH_DIR xxhash.h REQUIRED)

# The static library of OpenSSL, for one function: drivers may bring the shared one of their own system.
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

# libzip is used only by tests, to write archives. Debian's CMake package of it refuses to load without the command line
# tools of three other packages.
find_path(LIBZIP_DIR zip.h REQUIRED)
find_library(LIBZIP zip REQUIRED)
add_library(libzip::zip UNKNOWN IMPORTED)
set_target_properties(libzip::zip PROPERTIES
  IMPORTED_LOCATION ${LIBZIP} INTERFACE_INCLUDE_DIRECTORIES ${LIBZIP_DIR})

# The static library: drivers that are loaded into our process bring the shared one of their own system.
find_package(zstd REQUIRED)
add_library(assay_zstd INTERFACE)
target_link_libraries(assay_zstd INTERFACE zstd::libzstd_static)

# The static library, for the same reason; it inflates the members of .npz archives.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)

# The static library of RE2, for which Debian has no CMake package.
find_path(RE2_DIR re2/re2.h REQUIRED)
find_library(RE2 libre2.a REQUIRED)
add_library(assay_re2 UNKNOWN IMPORTED)
set_target_properties(assay_re2 PROPERTIES IMPORTED_LOCATION ${RE2} INTERFACE_INCLUDE_DIRECTORIES ${RE2_DIR})

# The static library of SQLite, for the same reason.
find_path(SQLITE_DIR sqlite3.h REQUIRED)
find_library(SQLITE libsqlite3.a REQUIRED)
add_library(assay_sqlite UNKNOWN IMPORTED)
set_target_properties(assay_sqlite PROPERTIES IMPORTED_LOCATION ${SQLITE} INTERFACE_INCLUDE_DIRECTORIES ${SQLITE_DIR})
target_link_libraries(assay_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
