#include "harness/gpu/gpu.h"
#include "tests/support/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {
namespace {

using namespace test;

constexpr std::uint32_t kept = 4000;  ///< words that a workgroup looks at
constexpr std::uint32_t workgroups = 64;

std::uint32_t poison_at(std::uint32_t word, Poison poison) {
  return (word + 1) * 0x9E3779B9U ^ static_cast<std::uint32_t>(poison.mask());
}

class WorkgroupMemoryTest : public GpuTest {
 protected:
  static std::vector<Physical> tensors() { return {words(std::int64_t{kept} * workgroups)}; }

  /// A program whose workgroups copy what they find in memory that they do not write.
  Program reader() {
    directory.write("reader.comp",
                    shader_text("shared uint found[" + std::to_string(kept) + "];\n" + buffers({"y"}),
                                "for (uint i = 0u; i < 4000u; ++i)\n"
                                "  y.data[gl_WorkGroupID.x * 4000u + i] = found[i];"));
    Program program;
    program.dispatches.push_back({.label = "reader",
                                  .shader = "reader.comp",
                                  .local_size = {1, 1, 1},
                                  .workgroups = {workgroups, 1, 1},
                                  .bindings = {Resource::tensor(0)}});
    return program;
  }

  /// Whether a workgroup of a program that runs after it finds all of this poison.
  bool is_found(Executable& runnable, Workspace& memory, Poison poison) {
    poison_workgroup_memory(device(), poison);
    runnable.run(memory, "reader", timeout_s);
    const std::vector<std::uint32_t> all = words_of(memory.read(Resource::tensor(0)));
    for (std::uint32_t group = 0; group < workgroups; ++group) {
      const auto found = std::span(all).subspan(std::size_t{group} * kept, kept);
      std::uint32_t i = 0;
      while (i < kept && found[i] == poison_at(i, poison)) ++i;
      if (i == kept) return true;
    }
    return false;
  }
};

TEST_F(WorkgroupMemoryTest, IsFoundByTheNextProgram) {
  if (!device().info().is_cpu()) GTEST_SKIP() << "other drivers may clear it";
  const Program program = reader();
  Executable runnable = executable(program, tensors(), 0);
  Workspace memory(device(), program, tensors(), 0);
  for (const Poison poison : {Poison::A, Poison::B, Poison::A}) {
    // A thread that was not free for the poison's dispatch may run the whole program.
    bool found = false;
    for (int attempt = 0; attempt < 100 && !found; ++attempt) found = is_found(runnable, memory, poison);
    EXPECT_TRUE(found);
  }
}

TEST_F(WorkgroupMemoryTest, AnExecutableKnowsWhetherItHasSome) {
  EXPECT_TRUE(executable(reader(), tensors(), 0).uses_workgroup_memory());
  directory.write("reader.comp", shader_text(buffers({"y"}), "y.data[0] = 1u;"));
  Program without;
  without.dispatches.push_back(
      {.label = "reader", .shader = "reader.comp", .bindings = {Resource::tensor(0)}});
  EXPECT_FALSE(executable(without, tensors(), 0).uses_workgroup_memory());
}

}  // namespace
}  // namespace assay::gpu
