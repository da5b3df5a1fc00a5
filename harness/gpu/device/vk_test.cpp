#include "harness/gpu/device/vk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

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

/// A driver's compiler that gives these results, one after the other.
struct FakeCompiler {
  std::vector<VkResult> results;
  std::size_t calls = 0;

  VkResult operator()() { return results.at(calls++); }
};

TEST(CompileInTwoAttempts, AsksAgainAfterWhatMayPass) {
  for (const VkResult passing :
       {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_UNKNOWN}) {
    FakeCompiler compiler{{passing, VK_SUCCESS}};
    const CompileAttempts attempts = compile_in_two_attempts(std::ref(compiler));
    EXPECT_EQ(attempts.result, VK_SUCCESS);
    EXPECT_EQ(attempts.count, 2);
    EXPECT_EQ(attempts.first_failure, result_name(passing));
  }
}

TEST(CompileInTwoAttempts, GivesUpAfterTheSecond) {
  FakeCompiler compiler{{VK_ERROR_UNKNOWN, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_SUCCESS}};
  const CompileAttempts attempts = compile_in_two_attempts(std::ref(compiler));
  EXPECT_EQ(attempts.result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(attempts.count, 2);
  EXPECT_EQ(attempts.first_failure, "");
}

TEST(CompileInTwoAttempts, AsksOnceWhereTheAnswerWouldBeTheSame) {
  for (const VkResult result :
       {VK_SUCCESS, VK_ERROR_DEVICE_LOST, VK_ERROR_INVALID_SHADER_NV, VK_ERROR_INITIALIZATION_FAILED}) {
    FakeCompiler compiler{{result, VK_SUCCESS}};
    const CompileAttempts attempts = compile_in_two_attempts(std::ref(compiler));
    EXPECT_EQ(attempts.result, result);
    EXPECT_EQ(attempts.count, 1);
    EXPECT_EQ(attempts.first_failure, "");
  }
}

TEST(Check, AnErrorOfNoRowSaysWhatWasBeingDone) {
  EXPECT_THAT([] { check(VK_ERROR_UNKNOWN, "creating a fence"); },
              ThrowsMessage<Error>(HasSubstr("creating a fence: VK_ERROR_UNKNOWN")));
}

}  // namespace
}  // namespace assay::gpu
