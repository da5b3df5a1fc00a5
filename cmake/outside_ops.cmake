# Ops in C++ that are kept outside of this tree: -DASSAY_OPS="/folder;/other". Each folder has ops/, and where it needs
# them references/, shaders/ and cases/, with files like those of this tree. What is there becomes part of `assay`; the
# tests of this repository know nothing of it. docs/own-ops.md tells users.
set(ASSAY_OPS "" CACHE STRING "Folders with ops/, references/, shaders/ and cases/ that become part of assay")

set(outside_folders "")
foreach(folder IN LISTS ASSAY_OPS)
  get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  file(GLOB_RECURSE found ${folder}/ops/*.cpp)
  if(NOT found)
    message(FATAL_ERROR "ASSAY_OPS: there is no .cpp file below ${folder}/ops. An op is a file ops/x.cpp with a line that "
                        "begins with `Op x() {`.")
  endif()
  list(APPEND outside_folders ${folder})
endforeach()

# The folders of that name in those of ASSAY_OPS, as far as they exist.
function(assay_outside_folders output name)
  set(found "")
  foreach(folder IN LISTS outside_folders)
    if(IS_DIRECTORY ${folder}/${name})
      list(APPEND found ${folder}/${name})
    endif()
  endforeach()
  set(${output} ${found} PARENT_SCOPE)
endfunction()

# Adds the sources of those ops and references to <target>, and sets `output` to them. Warnings do not end the build:
# that code is somebody else's.
function(assay_outside_sources output target)
  set(all "")
  foreach(folder IN LISTS outside_folders)
    file(GLOB_RECURSE ops CONFIGURE_DEPENDS ${folder}/ops/*.cpp)
    file(GLOB_RECURSE references CONFIGURE_DEPENDS ${folder}/references/*.cpp)
    list(FILTER ops EXCLUDE REGEX "_test(_support)?\\.cpp$")
    list(FILTER references EXCLUDE REGEX "_test(_support)?\\.cpp$")
    set_source_files_properties(${ops} PROPERTIES COMPILE_OPTIONS "-Wno-error")
    set_source_files_properties(${references} PROPERTIES COMPILE_OPTIONS "-Wno-error;-O3")
    target_sources(${target} PRIVATE ${ops} ${references})
    target_include_directories(${target} PRIVATE ${folder})
    list(APPEND all ${ops} ${references})
  endforeach()
  set(${output} ${all} PARENT_SCOPE)
endfunction()
