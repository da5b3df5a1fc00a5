#pragma once

// Tests on the default device, and shaders of their own.

#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/compile.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// A compute shader: `body` between braces of main(), `declarations` before it.
inline std::string shader_text(std::string_view declarations, std::string_view body) {
  return "#version 450\nlayout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;\n" +
         std::string(declarations) + "\nvoid main() {\n" + std::string(body) + "\n}\n";
}

/// `uint` storage buffers at bindings 0, 1, ...: "x.data[i]", "y.data[i]".
inline std::string buffers(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += "layout(std430, set = 0, binding = " + std::to_string(i) + ") buffer B" + std::to_string(i) +
            " { uint data[]; } " + names[i] + ";\n";
  }
  return text;
}

inline Physical words(std::int64_t count) {
  return {{Storage::Buffer, Layout::WP}, DType::I32, {count}};
}

inline std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(values[0]));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<std::uint32_t> words_of(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> values(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The default device, opened with validation, and shaders of the test's own. Fails when the machine has no
/// Vulkan device, and when a test makes the validation layer speak.
class GpuTest : public ::testing::Test {
 protected:
  static gpu::Instance& instance() {
    static gpu::Instance shared({.validation = true});
    return shared;
  }

  static gpu::Device& device() {
    static gpu::Device shared(instance(), gpu::select_devices(instance().devices(), {}).front());
    return shared;
  }

  /// Keeps glslang's tables from being built again for every test.
  static void SetUpTestSuite() { static const gpu::GlslangProcess shared; }

  void SetUp() override { messages_before = instance().validation_messages(); }

  void TearDown() override {
    EXPECT_EQ(instance().validation_messages(), messages_before)
        << ::testing::PrintToString(instance().validation_texts());
  }

  /// Compiles and prepares a program of shaders in `directory`.
  gpu::Executable executable(const Program& program, const std::vector<Physical>& tensors,
                             std::uint32_t guard = gpu::guard_bytes) {
    gpu::ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
    return {device(), library, program, tensors, guard};
  }

  /// An executable whose tensors are all buffers.
  gpu::Executable executable(const Program& program, std::uint32_t guard = gpu::guard_bytes) {
    std::size_t tensors = 0;
    for (const Dispatch& dispatch : program.dispatches) {
      for (const Binding& binding : dispatch.bindings) {
        const bool is_tensor = binding.resource.kind == Resource::Kind::Tensor;
        tensors = std::max<std::size_t>(tensors, is_tensor ? binding.resource.index + 1 : 0);
      }
    }
    return executable(program, std::vector<Physical>(tensors, words(1)), guard);
  }

  static gpu::Workspace workspace(const Program& program, const std::vector<Physical>& tensors,
                                  std::uint32_t guard = gpu::guard_bytes) {
    return {device(), program, tensors, guard};
  }

  TemporaryFolder directory;
  std::int64_t messages_before = 0;

  static constexpr double timeout_s = 30;
};

}  // namespace assay::test
