#pragma once

#include <gtest/gtest.h>

#include <string>

namespace assay::test {

/// Tests of what reads a report: all in one process read the same run on the best device, of the cases
/// `shuffle_cases` and `both_cases` in files c.yaml and p.yaml.
class SampleRunTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  /// The folder that was given as --out.
  static std::string out();
};

}  // namespace assay::test
