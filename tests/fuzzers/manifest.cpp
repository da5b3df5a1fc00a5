#include "harness/base/error.h"
#include "harness/cases/expansion/load.h"
#include "harness/external/load_ops.h"
#include "ops/registry.h"
#include "tests/fuzzers/input_file.h"

#include <array>
#include <cstdlib>
#include <fstream>

// The manifest of an op: every text declares one, whose cases are expanded and whose programs are built, or
// is refused with a diagnostic. References do not run.

namespace {

void build_program(const assay::Case& one) {
  const assay::DeviceInfo device;
  const assay::BuildContext at(one.params, one.tensors, one.forms, device, one.tune);
  try {
    if (one.impl->unsupported_reason(at)) return;
    if (one.impl->build(at).dispatches.empty()) std::abort();
  } catch (const assay::Error& error) {
    if (std::string(error.what()).empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::Registry builtin = assay::ops::registry();
  static const assay::test::InputFile file(assay::external::manifest_name);
  const std::filesystem::path path = file.write(data, size);
  for (const char* other : {"softmax.comp", "reference.py", "k.comp"})
    std::ofstream(path.parent_path() / other) << "#version 450\n";
  assay::external::LoadedOps loaded = assay::external::load_ops(std::array{path.parent_path()}, builtin);
  for (const assay::Diagnostic& error : loaded.errors) {
    if (assay::to_string(error).empty()) std::abort();
  }
  if (loaded.ops.empty() && loaded.errors.empty()) std::abort();
  const assay::Registry registry(std::move(loaded.ops));
  const assay::LoadResult cases =
      assay::load_cases(std::array{path}, registry, {.seed = {}, .max_cases = 1000});
  for (const assay::Case& one : cases.cases) {
    if (!one.invalid) build_program(one);
  }
  return 0;
}
