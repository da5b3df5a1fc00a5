#include "harness/report/record/device_name.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ShortDeviceName, KeepsTheModel) {
  EXPECT_EQ(short_device_name("NVIDIA H100 80GB HBM3"), "H100 80GB HBM3");
  EXPECT_EQ(short_device_name("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe");
  EXPECT_EQ(short_device_name("Intel(R) UHD Graphics 620 (KBL GT2)"), "UHD Graphics 620");
  EXPECT_EQ(short_device_name("AMD Radeon RX 7900 XTX (RADV (NAVI31))"), "Radeon RX 7900 XTX");
  EXPECT_EQ(short_device_name("Apple"), "Apple");
  EXPECT_EQ(short_device_name(" (unclosed"), "device");
  EXPECT_EQ(short_device_name("a)b"), "a)b");
}

}  // namespace
}  // namespace assay
