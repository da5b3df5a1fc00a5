#include "harness/tensor/npy/npy.h"

#include "harness/base/error.h"

#include <cstdint>
#include <span>

// An array of NumPy's: read, or refused with an error.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    assay::parse_npy(std::as_bytes(std::span(data, size)), "x.npy");
  } catch (const assay::Error&) {
  }
  return 0;
}
