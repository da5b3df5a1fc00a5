#include "tests/cli/sample_cases.h"

#include "tests/support/assay_binary.h"

namespace assay::test {
namespace {

const TemporaryFolder& folder() {
  static const TemporaryFolder kept_to_the_end;
  return kept_to_the_end;
}

}  // namespace

std::string SampleRunTest::out() {
  return folder() / "out";
}

void SampleRunTest::SetUpTestSuite() {
  static const ProcessResult result =
      assay({"run", "--ceilings", "none", folder().write("c.yaml", shuffle_cases),
             folder().write("p.yaml", both_cases), "--budget", "0.1", "--out", out()});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
}

}  // namespace assay::test
