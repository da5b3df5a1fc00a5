# assay_embed_page(<target> <folder> SCRIPTS <names...>)
#
# Assembles the parts that every HTML page shares and makes them part of <target>: <folder>/page.html with its style,
# its script (<names>, in this order, in one scope) and the chart library with its licence. A generated file defines
# assay::page_head() and assay::page_tail() (harness/report/html/page_data.h).
set(ASSAY_EMBED_PAGE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_page_script.cmake)

# Debian's package node-d3: one file that holds all of D3, and its licence; this machine's, whatever is built for.
find_file(D3_SCRIPT d3.min.js PATHS /usr/share/nodejs/d3/dist REQUIRED NO_CMAKE_FIND_ROOT_PATH)
find_file(D3_LICENCE copyright PATHS /usr/share/doc/node-d3 REQUIRED NO_CMAKE_FIND_ROOT_PATH)

function(assay_embed_page target folder)
  cmake_parse_arguments(ARG "" "" "SCRIPTS" ${ARGN})
  list(TRANSFORM ARG_SCRIPTS PREPEND ${folder}/)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded_page.cpp)
  list(JOIN ARG_SCRIPTS "|" scripts)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${folder}/page.html -DSTYLE=${folder}/style.css "-DSCRIPTS=${scripts}"
            -DLIBRARY=${D3_SCRIPT} -DLICENCE=${D3_LICENCE} -DOUTPUT=${generated} -P ${ASSAY_EMBED_PAGE_SCRIPT}
    DEPENDS ${folder}/page.html ${folder}/style.css ${ARG_SCRIPTS} ${D3_SCRIPT} ${D3_LICENCE}
            ${ASSAY_EMBED_PAGE_SCRIPT}
    COMMENT "Putting the HTML page together"
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
