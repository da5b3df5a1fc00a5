#include "harness/report/journal/journal.h"

#include "harness/base/error.h"
#include "tests/fuzzers/input_file.h"

// A journal, compressed or not: read whole, or refused with an error.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::test::InputFile file("journal.jsonl");
  try {
    assay::read_journal(file.write(data, size));
  } catch (const assay::Error&) {
  }
  return 0;
}
