# Writes OUTPUT: ops::registry() of the source tree ROOT and of the trees MORE, separated by |. Files of the first are
# named relative to it, those of the others by their whole paths. Run by the build whenever a file in ops/ or references/
# changes, so that an op which is added to an existing file is not missed.
#
# An op is a file ops/x.cpp or ops/FAMILY/x.cpp with a line that begins with `Op x() {`. A file that looks like an op
# but does not match is refused: a file with cases in cases/x.yaml, or a file that defines an op of another name.
cmake_minimum_required(VERSION 3.25)

# Appends to `all` the files of FAMILIES and references/ that FILE (below ROOT) includes, directly or not, and the
# sources of these headers. Files in ops/common, which all ops share, are left out.
function(add_included all file)
  set(found ${${all}})
  file(STRINGS ${ROOT}/${file} includes REGEX "^#include \"(ops|references)/.*\"")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" header "${line}")
    string(REGEX REPLACE "\\.h$" ".cpp" source "${header}")
    foreach(included IN ITEMS ${header} ${source})
      if(included MATCHES "^ops/common/" OR included IN_LIST found OR NOT EXISTS ${ROOT}/${included})
        continue()
      endif()
      list(APPEND found ${included})
      add_included(found ${included})
    endforeach()
  endforeach()
  set(${all} ${found} PARENT_SCOPE)
endfunction()

# Sets `is_op` to whether FILE (below ROOT) declares the op of its name.
function(check_op is_op file)
  get_filename_component(name ${file} NAME_WE)
  file(STRINGS ${ROOT}/${file} definition REGEX "^Op ${name}\\(\\) {")
  file(STRINGS ${ROOT}/${file} others REGEX "^[ \t]*([A-Za-z_]+::)*Op[ \t]+[A-Za-z0-9_:]+[ \t]*\\([ \t]*\\)")
  list(REMOVE_ITEM others "${definition}")
  if(others)
    message(FATAL_ERROR
      "Looking for ops: ${file} has the line\n  ${others}\n"
      "An op is defined in a file of its own name, by a line that begins with `Op ${name}() {`.")
  endif()
  if(NOT definition AND EXISTS ${ROOT}/cases/${name}.yaml)
    message(FATAL_ERROR
      "Looking for ops: there are cases for an op '${name}' (cases/${name}.yaml), but ${file} does not define it: "
      "no line begins with `Op ${name}() {`.")
  endif()
  set(${is_op} FALSE PARENT_SCOPE)
  if(definition)
    set(${is_op} TRUE PARENT_SCOPE)
  endif()
endfunction()

set(declarations "")
set(calls "")
set(names "")
string(REPLACE "|" ";" more "${MORE}")
set(prefix "")
foreach(ROOT IN LISTS ROOT more)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/ops/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|^ops/common/")
  foreach(file IN LISTS sources)
    check_op(is_op ${file})
    if(NOT is_op)
      continue()
    endif()
    get_filename_component(name ${file} NAME_WE)
    if(name IN_LIST names)
      message(FATAL_ERROR "Looking for ops: ${ROOT}/${file} defines the op '${name}', which there is already.")
    endif()
    set(included ${file})
    add_included(included ${file})
    list(REMOVE_ITEM included ${file})
    list(SORT included)
    list(PREPEND included ${file})
    if(prefix)
      list(TRANSFORM included PREPEND "${ROOT}/")
    endif()
    list(JOIN included "\", \"" files)
    list(APPEND names ${name})
    set(call_of_${name} "      with_files(${name}(), {\"${files}\"}),\n")
  endforeach()
  set(prefix whole)
endforeach()
list(SORT names)
foreach(name IN LISTS names)
  string(APPEND declarations "Op ${name}();\n")
  string(APPEND calls "${call_of_${name}}")
endforeach()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Written by cmake/op_registry_script.cmake from the files in ops/.
#include "ops/registry.h"

#include <utility>

namespace assay::ops {

@declarations@
namespace {

Op with_files(Op op, std::vector<std::string> files) {
  op.files = std::move(files);
  return op;
}

}  // namespace

Registry registry() {
  return Registry({
@calls@  });
}

}  // namespace assay::ops
]])
