# assay_embed_shaders(<target> <root> <function> [MORE <roots...>])
#
# Makes every *.comp and *.glslh below <root>, and below MORE such folders, part of <target>: a generated file defines
# `std::span<const EmbeddedSource> assay::gpu::<function>()` (harness/gpu/shaders/shader_sources.h). A changed shader
# regenerates it; a new or removed one is noticed by the build's own glob check.
set(ASSAY_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_shaders_script.cmake)

function(assay_embed_shaders target root function)
  cmake_parse_arguments(ARG "" "" "MORE" ${ARGN})
  set(files "")
  foreach(folder IN ITEMS ${root} ${ARG_MORE})
    file(GLOB_RECURSE in_folder CONFIGURE_DEPENDS ${folder}/*.comp ${folder}/*.glslh)
    list(APPEND files ${in_folder})
  endforeach()
  list(JOIN ARG_MORE "|" more)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  # The list goes through a file: it may be longer than a command line.
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${function}.txt)
  list(SORT files)
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DMORE=${more} -DLIST=${list} -DFUNCTION=${function} -DOUTPUT=${generated}
            -P ${ASSAY_EMBED_SCRIPT}
    DEPENDS ${files} ${list} ${ASSAY_EMBED_SCRIPT}
    COMMENT "Embedding the shaders of ${root}"
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
