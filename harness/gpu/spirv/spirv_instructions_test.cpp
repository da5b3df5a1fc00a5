#include "harness/gpu/spirv/spirv_instructions.h"

#include <glslang/SPIRV/spirv.hpp>
#include <gtest/gtest.h>

#include <array>

namespace assay::gpu {
namespace {

std::string refused(std::uint32_t capability) {
  const std::array<std::uint32_t, 3> all{spv::CapabilityShader, capability, spv::CapabilityInt8};
  return refused_capability(all);
}

TEST(SpirvCapabilities, KernelsCompute) {
  EXPECT_EQ(refused_capability({}), "");
  for (const std::uint32_t one :
       {spv::CapabilityFloat16, spv::CapabilityInt64, spv::CapabilityGroupNonUniformArithmetic,
        spv::CapabilityStorageBuffer8BitAccess, spv::CapabilityCooperativeMatrixNV,
        spv::CapabilityImageQuery})
    EXPECT_EQ(refused(one), "");
  EXPECT_EQ(refused(6018), "") << "DotProductInput4x8BitPacked";
}

TEST(SpirvCapabilities, WhatTellsTheTimeOrReachesForeignMemoryIsRefusedByName) {
  EXPECT_EQ(refused(spv::CapabilityShaderClockKHR), "ShaderClockKHR");
  EXPECT_EQ(refused(spv::CapabilityPhysicalStorageBufferAddresses), "PhysicalStorageBufferAddressesEXT");
  EXPECT_EQ(refused(spv::CapabilityShaderSMBuiltinsNV), "ShaderSMBuiltinsNV");
}

TEST(SpirvCapabilities, WhatIsNotKnownIsRefusedByItsNumber) {
  EXPECT_EQ(refused(999999), "number 999999 of the SPIR-V registry");
}

}  // namespace

}  // namespace assay::gpu
