# Makes TREE anew: what an op is made of, and what lists ops, of the source tree ROOT. Tests' data stay behind.
file(REMOVE_RECURSE ${TREE})
file(COPY ${ROOT}/cases ${ROOT}/ops ${ROOT}/shaders DESTINATION ${TREE})
file(COPY ${ROOT}/references DESTINATION ${TREE}
     FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "golden" EXCLUDE)
file(COPY ${ROOT}/docs/ops.md DESTINATION ${TREE}/docs)
