#include "harness/engine/timing/rotating_sets.h"

#include "tests/support/gpu.h"

namespace assay {
namespace {

class SetupScratchTest : public test::GpuTest {
 protected:
  /// Set-up binds the first two of three scratch tensors; the second one is a texture.
  static Program program() {
    Program made;
    made.scratch = {{.name = "packed", .dtype = DType::I32, .shape = {4}, .form = {}},
                    {.name = "sums", .dtype = DType::F32, .shape = {2, 4}, .form = {Storage::Texture2D}},
                    {.name = "own", .dtype = DType::I32, .shape = {4}, .form = {}}};
    Dispatch setup;
    setup.role = DispatchRole::Setup;
    setup.bindings = {Resource::scratch(0), Resource::scratch(1)};
    Dispatch product;
    product.bindings = {Resource::scratch(0), Resource::scratch(1), Resource::scratch(2)};
    made.dispatches = {setup, product};
    return made;
  }

  static gpu::Workspace zeroed(const Program& program) {
    gpu::Workspace set = workspace(program, {}, 0);
    for (std::uint32_t i = 0; i < program.scratch.size(); ++i) write(set, i, 0);
    return set;
  }

  static void write(gpu::Workspace& set, std::uint32_t scratch, unsigned char byte) {
    const Resource resource = Resource::scratch(scratch);
    std::vector<std::byte> bytes(set.size(resource));
    bytes.back() = std::byte{byte};
    set.write(resource, bytes);
  }
};

TEST_F(SetupScratchTest, NamesWhatIsAnotherOneThanSetUpLeft) {
  const Program made = program();
  gpu::Workspace first = zeroed(made);
  gpu::Workspace second = zeroed(made);
  SetupScratch scratch(made);
  scratch.keep(first);
  EXPECT_EQ(scratch.changed_in(first), std::nullopt);
  EXPECT_EQ(scratch.changed_in(second), std::nullopt) << "each set holds the same";
  write(first, 2, 1);
  EXPECT_EQ(scratch.changed_in(first), std::nullopt) << "set-up has nothing to do with it";
  write(first, 1, 1);
  EXPECT_EQ(scratch.changed_in(first), "sums");
  write(second, 0, 1);
  EXPECT_EQ(scratch.changed_in(second), "packed");
}

TEST_F(SetupScratchTest, AProgramWithoutSetUpHasNothingToChange) {
  Program made = program();
  made.dispatches.erase(made.dispatches.begin());
  gpu::Workspace set = zeroed(made);
  SetupScratch scratch(made);
  scratch.keep(set);
  write(set, 0, 1);
  EXPECT_EQ(scratch.changed_in(set), std::nullopt);
}

}  // namespace
}  // namespace assay
