# Writes OUTPUT: the hash of all files named in LIST (one per line, below ROOT), the code of the references. Run by the
# build whenever one of them changes; the hash is part of the key of the answer cache.
cmake_minimum_required(VERSION 3.25)

file(STRINGS ${LIST} files)
set(text "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND text "${name} ${hash}\n")
endforeach()
string(SHA256 code "${text}${COMPILER}\n")

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Written by cmake/reference_code_script.cmake.
#include "build_info.h"

namespace assay::cli {

std::string reference_code() {
  return "@code@";
}

}  // namespace assay::cli
]])
