# assay_module(<name> [DIR <folder>...] LINKS <targets...> [TEST_LINKS <targets...>] [NO_TEST] [FAST]
#              [EACH_ALONE | APART <files...>])
#
# A folder is a target: every *.cpp in it goes into the library assay_<name>, except *_test.cpp and shared helpers of
# tests, *_test_support.cpp, which go into the test executable <name>_test. LINKS are the modules that may be included;
# no others may. DIR names folders other than the current one, relative to it. TEST_LINKS are additional libraries of
# the tests. With NO_TEST another test executable contains the folder's tests (assay_module_tests). FAST is for code
# that computes for long (references, packing, comparison of elements): it is compiled with -O3, the rest with -O1, which
# takes a third less time than -O2 to compile; neither reading of reports nor rows on a software device became slower.
# EACH_ALONE: files are not compiled together, so that someone who adds a file does not have to avoid names used in the
# others.
#
# The standard headers that most sources include are precompiled once for all modules, which saves a third of their
# compile time. A source still includes what it needs: scripts/dev/odr.sh and clang-tidy do without them.
function(assay_module name)
  cmake_parse_arguments(ARG "NO_TEST;FAST;EACH_ALONE" "" "DIR;APART;LINKS;TEST_LINKS" ${ARGN})
  assay_module_files(sources tests "${ARG_DIR}")
  add_library(assay_${name} STATIC ${sources})
  if(NOT ARG_EACH_ALONE)
    assay_together(assay_${name} APART ${ARG_APART})
  endif()
  if(ARG_FAST)
    target_compile_options(assay_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  else()
    target_compile_options(assay_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_link_libraries(assay_${name} PUBLIC ${ARG_LINKS} PRIVATE assay_options)
  target_include_directories(assay_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  assay_use_precompiled(assay_${name})
  if(tests AND NOT ARG_NO_TEST)
    assay_test(${name}_test SOURCES ${tests} LINKS assay_${name} ${ARG_TEST_LINKS} SHARDS "${ARG_SHARDS}"
      ALONE ${ARG_ALONE})
  endif()
endfunction()

# assay_together(<target> [APART <files>...])
#
# Compilation mostly reads headers, so several files of a target are compiled together (CMake's unity build). Names in
# anonymous namespaces must therefore be unique within a target. Files that define a preprocessor macro for a header
# that they include are compiled alone: APART. A file with missing includes may compile here; clang-tidy
# (scripts/dev/tidy.sh) and scripts/dev/odr.sh compile each file alone.
function(assay_together target)
  cmake_parse_arguments(ARG "" "" "APART" ${ARGN})
  if(ASSAY_TOGETHER LESS 2)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ASSAY_TOGETHER})
  # GCC treats the included sources as headers, whose types should not use an anonymous namespace.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Defines the target whose precompiled headers all modules use.
function(assay_precompiled)
  if(TARGET assay_precompiled)
    return()
  endif()
  set(empty ${CMAKE_BINARY_DIR}/precompiled.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  add_library(assay_precompiled OBJECT ${empty})
  target_link_libraries(assay_precompiled PRIVATE fmt::fmt Threads::Threads assay_options)
  target_compile_options(assay_precompiled PRIVATE -fpch-preprocess)
  target_precompile_headers(assay_precompiled PRIVATE
    <algorithm> <array> <bit> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional> <set>
    <span> <sstream> <stdexcept> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)
endfunction()

function(assay_use_precompiled target)
  if(ASSAY_PRECOMPILE)
    assay_precompiled()
    # ccache needs the first option for GCC's precompiled headers. With a precompiled <string>, GCC 12 falsely reports
    # the two warnings for `"literal" + std::string`.
    target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-stringop-overflow -Wno-array-bounds)
    target_precompile_headers(${target} REUSE_FROM assay_precompiled)
  endif()
endfunction()

# Sets `sources` and `tests` to the files of folders (default: the current one).
function(assay_module_files sources_name tests_name folders)
  if(NOT folders)
    set(folders .)
  endif()
  set(sources "")
  set(tests "")
  foreach(folder IN LISTS folders)
    file(GLOB in_folder CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${in_folder})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test(_support)?\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test(_support)?\\.cpp$")
  set(${sources_name} ${sources} PARENT_SCOPE)
  set(${tests_name} ${tests} PARENT_SCOPE)
endfunction()

# assay_module_tests(<name> DIR <folders...> LINKS <targets...> [SHARDS <count>] [ALONE <suites...>] [GLIBC_MALLOC]): one
# test executable for the tests of several folders, since each would link the same large libraries.
function(assay_module_tests name)
  cmake_parse_arguments(ARG "GLIBC_MALLOC" "SHARDS" "DIR;LINKS;ALONE" ${ARGN})
  assay_module_files(sources tests "${ARG_DIR}")
  set(malloc "")
  if(ARG_GLIBC_MALLOC)
    set(malloc GLIBC_MALLOC)
  endif()
  assay_test(${name} SOURCES ${tests} LINKS ${ARG_LINKS} SHARDS "${ARG_SHARDS}" ALONE ${ARG_ALONE} ${malloc})
endfunction()

# assay_test(<name> SOURCES <files...> LINKS <targets...> [TREE <folder> FILTER <tests>] [SHARDS <count>]
#            [ALONE <suites...>] [GLIBC_MALLOC]): a GoogleTest executable.
#
# CTest runs it as SHARDS processes, <name>.1of4 and so on, because a process that loads a driver and compiles shaders
# costs more than most tests; scripts/dev/test_shard.py counts their tests one by one. A suite in ALONE, a pattern, has a
# separate process, <name>.<suite>; state the reason where you add one. Expensive executables have enough shards to keep
# two cores busy to the end, and they start first. Tests run in the source tree's root, which they reach through
# ASSAY_SOURCE_DIR: a relative path, so that objects do not depend on the place of the tree. With TREE, the tests that
# FILTER selects run in that folder, a similar tree. Test code is not optimized, and GoogleTest's headers are
# precompiled once for all tests: they compile in a third of the time.
function(assay_test name)
  cmake_parse_arguments(ARG "GLIBC_MALLOC" "TREE;FILTER;SHARDS" "SOURCES;LINKS;ALONE" ${ARGN})
  if(name IN_LIST ASSAY_TESTS_LEFT_OUT)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES ASSAY_GLIBC_MALLOC "${ARG_GLIBC_MALLOC}")
  assay_together(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} assay_test_support assay_options GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ASSAY_SOURCE_DIR=".")
  target_compile_options(${name} PRIVATE ${ASSAY_TEST_CODE})
  if(ASSAY_PRECOMPILE)
    target_compile_options(${name} PRIVATE -fpch-preprocess) # ccache needs it for GCC's precompiled headers
    target_precompile_headers(${name} REUSE_FROM assay_test_support)
  endif()
  foreach(default TREE=${CMAKE_SOURCE_DIR} FILTER=* SHARDS=1)
    string(REGEX MATCH "^([A-Z]+)=(.*)$" parts "${default}")
    if(NOT ARG_${CMAKE_MATCH_1})
      set(ARG_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(filter "${ARG_FILTER}")
  foreach(suite IN LISTS ARG_ALONE)
    string(MAKE_C_IDENTIFIER "${suite}" word)
    assay_test_shard(${name} ${name}.${word} 1/1 "${suite}.*" "${ARG_TREE}" 1)
  endforeach()
  if(ARG_ALONE)
    list(JOIN ARG_ALONE ".*:" alone)
    string(APPEND filter ":-${alone}.*")
  endif()
  foreach(number RANGE 1 ${ARG_SHARDS})
    assay_test_shard(${name} ${name}.${number}of${ARG_SHARDS} ${number}/${ARG_SHARDS} "${filter}" "${ARG_TREE}"
      ${ARG_SHARDS})
  endforeach()
endfunction()

# assay_test_shard(<executable> <name> <number/count> <filter> <folder> <cost>): one process of CTest. The time limit is
# for a machine that is stuck; scripts/dev/test_shard.py ends a test that hangs. All tests of a build share its caches:
# SPIR-V and answers of references, whose keys include everything they depend on, and Mesa's compiled kernels. Mesa does
# not optimize (GALLIVM_PERF): tests run each kernel once or twice, and half of their time was compilation. A fifth of
# the time of compilers and of the validator of SPIR-V was in malloc: jemalloc takes its place where it is installed
# (a test that asks glibc what is in use says GLIBC_MALLOC), and keeps what was freed, which the kernel would have to
# clear again; else glibc keeps more freed memory for the next allocation of its size.
find_library(ASSAY_JEMALLOC NAMES libjemalloc.so.2)
function(assay_test_shard executable name shard filter folder cost)
  get_target_property(glibc_malloc ${executable} ASSAY_GLIBC_MALLOC)
  if(ASSAY_JEMALLOC AND NOT ASSAY_SANITIZE AND NOT glibc_malloc)
    set(allocator "LD_PRELOAD=${ASSAY_JEMALLOC};MALLOC_CONF=thp:always,dirty_decay_ms:-1")
  else()
    set(allocator "GLIBC_TUNABLES=glibc.malloc.tcache_count=20000")
  endif()
  add_test(NAME ${name} WORKING_DIRECTORY ${folder}
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/dev/test_shard.py --name ${name} --folder ${CMAKE_BINARY_DIR}/test-results
      --shard ${shard} "--filter=${filter}" -- $<TARGET_FILE:${executable}>)
  set(caches ${CMAKE_BINARY_DIR}/test-caches)
  set_tests_properties(${name} PROPERTIES TIMEOUT 3600 COST ${cost} LABELS ${executable} ENVIRONMENT
    "GALLIVM_PERF=nopt;${allocator};XDG_CACHE_HOME=${caches};MESA_SHADER_CACHE_DIR=${caches};MESA_SHADER_CACHE_MAX_SIZE=4G")
endfunction()
