# Only with GCC: clang refuses a precompiled header if a target has different definitions.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(gcc ON)
endif()
option(ASSAY_PRECOMPILE "Precompile the headers that most sources include" ${gcc})
set(ASSAY_TOGETHER 8 CACHE STRING "So many sources of a folder are compiled as one; 1: each by itself")
# scripts/test.sh --asan sets it to those that it runs only under the sanitizers; the preset `release` makes it empty
# again.
set(ASSAY_TESTS_LEFT_OUT "" CACHE STRING "Test executables that are neither built nor run")
option(ASSAY_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(ASSAY_FUZZERS "Build the libFuzzer targets, with both sanitizers: needs clang" OFF)
option(ASSAY_SANITIZE_THREADS "Build with ThreadSanitizer" OFF)

# Options for every target of assay; third-party headers are SYSTEM and exempt.
add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow=local -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Wconversion
  -Wno-sign-conversion -Wno-missing-field-initializers -Werror
  -Wno-restrict)  # GCC 12 reports it falsely for `"literal" + std::string` (its bug 105651)
# Reference arithmetic is IEEE, in the order written: no contraction into fused multiply-adds.
target_compile_options(assay_options INTERFACE -ffp-contract=off)
if(gcc AND ASSAY_PRECOMPILE) # not for the tools preset: clang-tidy refuses options that clang does not have
  # Sources that are compiled together need 1 GiB. To collect garbage before 0.5 GiB are in use costs a tenth of the time.
  target_compile_options(assay_options INTERFACE "SHELL:--param ggc-min-heapsize=500000")
endif()
target_include_directories(assay_options INTERFACE ${CMAKE_SOURCE_DIR})

if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  # glslang is built without the type information that this check asks its classes for.
  add_compile_options(-fno-sanitize=vptr)
  # A null pointer that is read or written dies anyway, and AddressSanitizer knows the size of objects better: these two
  # checks would be a tenth of the compile time. As would AddressSanitizer's checks, were they inline.
  add_compile_options(-fno-sanitize=null,object-size "SHELL:--param asan-instrumentation-with-call-threshold=0")
  add_link_options(-fsanitize=address,undefined)
  # Instrumented std::variant and std::regex make GCC 12 report this falsely.
  target_compile_options(assay_options INTERFACE -Wno-maybe-uninitialized)
endif()
# Test code is not optimized, and where it is checked itself, the alignment of what it reads is not.
set(ASSAY_TEST_CODE -O0)
if(ASSAY_SANITIZE)
  list(APPEND ASSAY_TEST_CODE -fno-sanitize=alignment)
endif()
if(ASSAY_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_compile_options(-fno-sanitize=vptr) # as above
  target_compile_options(assay_options INTERFACE -Wno-unknown-warning-option -Wno-error) # the warnings above are GCC's
  add_link_options(-fsanitize=address,undefined)
endif()
if(ASSAY_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  # It does not see std::atomic_thread_fence, and GCC says so.
  target_compile_options(assay_options INTERFACE -Wno-error=tsan)
endif()

# Paths relative to the source tree, so that clones of one commit share ccache's entries. Its manual asks for
# this sloppiness where headers are precompiled.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
