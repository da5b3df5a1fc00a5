# Writes OUTPUT, the C++ file with the version: VERSION, the commit of SOURCE, and "-dirty" if tracked files differ from
# it. Run by every build, since a report names the commit of its kernels; the file is written only if its text changes.
set(commit "unknown")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "build_info.h"

namespace assay::cli {

std::string version() {
  return "@VERSION@+@commit@";
}

}  // namespace assay::cli
]])
