#include "harness/gpu/device/fault.h"

#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

TEST(Fault, SaysNothingWhereTheDriverDoes) {
  EXPECT_EQ(to_string(Fault{}), "");
}

TEST(Fault, NamesWhatWasDoneAtWhichAddress) {
  const Fault fault{.description = "MMU fault",
                    .addresses = {{VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT, 0x7f001000, 4096},
                                  {VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT, 0x40, 1}},
                    .vendor = {"Graphics exception (0x1, 0x2)"}};
  EXPECT_EQ(to_string(fault),
            " (the driver says: MMU fault; invalid read at 0x7f001000, within 4096 bytes; instruction "
            "pointer fault at 0x40; Graphics exception (0x1, 0x2))");
}

}  // namespace
}  // namespace assay::gpu
