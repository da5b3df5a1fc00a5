# assay_op_registry(<output.cpp> <root> [MORE <roots...>] [DEPENDS <files...>])
#
# Makes the build write <output.cpp>, which defines assay::ops::registry() for the ops of the source tree <root> and of
# MORE such trees (cmake/op_registry_script.cmake). It is written again whenever one of the files DEPENDS changes.
set(ASSAY_OP_REGISTRY_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/op_registry_script.cmake)

function(assay_op_registry output root)
  cmake_parse_arguments(ARG "" "" "MORE;DEPENDS" ${ARGN})
  list(JOIN ARG_MORE "|" more)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DMORE=${more} -DOUTPUT=${output} -P ${ASSAY_OP_REGISTRY_SCRIPT}
    DEPENDS ${ASSAY_OP_REGISTRY_SCRIPT} ${ARG_DEPENDS}
    COMMENT "Looking for ops in ${root}"
    VERBATIM)
endfunction()

# assay_list_file(<output.txt> <files...>): writes the names to a file, which changes when a file is added or removed. A
# command that depends only on the files themselves would not notice a removed one.
function(assay_list_file output)
  list(JOIN ARGN "\n" lines)
  file(CONFIGURE OUTPUT ${output} CONTENT "${lines}\n" @ONLY)
endfunction()
