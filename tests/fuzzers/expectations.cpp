#include "harness/cases/expectations/expectations.h"

#include "tests/fuzzers/input_file.h"

#include <array>

// A file of expectations: read, and asked about a row.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::test::InputFile file("e.yaml");
  const std::array paths{file.write(data, size)};
  const assay::ExpectationsResult read = assay::load_expectations(paths);
  read.expectations.find("mock device", {.id = "mock/shapes/0001", .mode = "accu", .impl = "fused"});
  return 0;
}
