#include "harness/base/error.h"
#include "harness/models/model_file.h"
#include "tests/fuzzers/input_file.h"

#include <cstdlib>

// A model's file: GGUF, .safetensors or config.json. It is refused with an error, or describes a decoder
// whose counts are those of a model.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::test::InputFile file("model");
  try {
    const assay::models::Decoder decoder = assay::models::read_model(file.write(data, size));
    assay::models::check(decoder, "model");
  } catch (const assay::Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
