#include "harness/cases/expansion/load.h"
#include "ops/registry.h"
#include "tests/fuzzers/input_file.h"

#include <array>
#include <cstdlib>

// A file of cases: every text is expanded, or refused with a diagnostic.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::Registry registry = assay::ops::registry();
  static const assay::test::InputFile file("c.yaml");
  const std::array paths{file.write(data, size)};
  const assay::LoadResult loaded = assay::load_cases(paths, registry);
  for (const assay::Diagnostic& error : loaded.errors) {
    if (assay::to_string(error).empty()) std::abort();
  }
  return 0;
}
