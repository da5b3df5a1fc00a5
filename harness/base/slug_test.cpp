#include "harness/base/slug.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Slug, IsANameOfLettersDigitsAndHyphens) {
  EXPECT_EQ(slug_of("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
  EXPECT_EQ(slug_of("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe-llvm-15-0-6-256-bits");
  EXPECT_EQ(slug_of("../../etc/passwd"), "etc-passwd");
}

TEST(Slug, IsNeverEmpty) {
  EXPECT_EQ(slug_of(""), "device");
  EXPECT_EQ(slug_of("(\xC2\xAE)"), "device");
}

}  // namespace
}  // namespace assay
