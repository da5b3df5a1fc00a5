#include "harness/cases/tuning/tuning.h"

#include "ops/registry.h"
#include "tests/fuzzers/input_file.h"

#include <cstdlib>
#include <string>

// A tuning file: refused with a diagnostic, or read; what is written of it says the same.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::Registry registry = assay::ops::registry();
  static const assay::test::InputFile file("t.yaml"), written("w.yaml");
  const assay::TuningResult read = assay::load_tuning(file.write(data, size), registry);
  if (!read.tuning) {
    if (read.errors.empty()) std::abort();
    return 0;
  }
  const std::string text = assay::tuning_yaml(*read.tuning);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const assay::TuningResult again = assay::load_tuning(written.write(bytes, text.size()), registry);
  if (!again.tuning || assay::tuning_yaml(*again.tuning) != text) std::abort();
  return 0;
}
