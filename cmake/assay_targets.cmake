# assay_room(<name> LINKS <targets...>)
#
# A folder is a target of the same name: every *.cpp here but *_test.cpp goes into the library
# assay_<name>, the *_test.cpp into <name>_test. LINKS are the arrows to other rooms, and nothing else
# may be included. TEST_LINKS are the test's own.
function(assay_room name)
  cmake_parse_arguments(ARG "" "" "LINKS;TEST_LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cpp)
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  if(sources)
    add_library(assay_${name} STATIC ${sources})
    target_link_libraries(assay_${name} PUBLIC ${ARG_LINKS} PRIVATE assay_options)
    target_include_directories(assay_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  else()
    add_library(assay_${name} INTERFACE)
  endif()
  if(tests)
    assay_test(${name}_test SOURCES ${tests} LINKS assay_${name} ${ARG_TEST_LINKS})
  endif()
endfunction()

# assay_test(<name> SOURCES <files...> LINKS <targets...>): a GoogleTest executable, each test known to CTest.
# Tests run in the source tree's root, which they reach through ASSAY_SOURCE_DIR: a relative path, so that
# objects do not depend on where the tree lies. Their own code is not optimised: it compiles in half the time.
function(assay_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} assay_options GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ASSAY_SOURCE_DIR=".")
  target_compile_options(${name} PRIVATE -O0)
  gtest_discover_tests(${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120 LABELS ${name})
endfunction()
