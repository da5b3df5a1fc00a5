#include "harness/gpu/device/vk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CheckCompiled, WhatTheDriversCompilerCannotDoIsTheShadersFault) {
  EXPECT_THAT(
      [] { check_compiled(VK_ERROR_UNKNOWN, "creating the pipeline of 'convolve'"); },
      ThrowsMessage<CompileError>(
          "creating the pipeline of 'convolve': the driver's compiler gave up on it with VK_ERROR_UNKNOWN"));
  EXPECT_THROW(check_compiled(VK_ERROR_INITIALIZATION_FAILED, ""), CompileError);
  EXPECT_NO_THROW(check_compiled(VK_SUCCESS, ""));
}

TEST(CheckCompiled, MemoryAndDevicesThatAreGoneAreWhatTheyAreElsewhere) {
  EXPECT_THROW(check_compiled(VK_ERROR_OUT_OF_DEVICE_MEMORY, ""), OutOfMemory);
  EXPECT_THROW(check_compiled(VK_ERROR_DEVICE_LOST, ""), DeviceLost);
}

TEST(Check, AnErrorOfNoRowSaysWhatWasBeingDone) {
  EXPECT_THAT([] { check(VK_ERROR_UNKNOWN, "creating a fence"); },
              ThrowsMessage<Error>(HasSubstr("creating a fence: VK_ERROR_UNKNOWN")));
}

}  // namespace
}  // namespace assay::gpu
