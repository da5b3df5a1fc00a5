#include "harness/gpu/device/instance.h"
#include "harness/gpu/gpu.h"
#include "tests/support/gpu.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>
#include <utility>

namespace assay::gpu {
namespace {

using namespace test;
using ::testing::ElementsAre;

/// A fake RenderDoc, attached for its lifetime.
class FakeRenderDoc {
 public:
  FakeRenderDoc() : library_(::dlopen(FAKE_RENDERDOC, RTLD_NOW)) {}
  ~FakeRenderDoc() {
    if (library_ != nullptr) ::dlclose(library_);
  }
  FakeRenderDoc(const FakeRenderDoc&) = delete;
  FakeRenderDoc& operator=(const FakeRenderDoc&) = delete;

  bool attached() const { return library_ != nullptr; }
  int count(const std::string& what) const {
    return reinterpret_cast<int (*)()>(::dlsym(library_, ("fake_" + what).c_str()))();
  }

 private:
  void* library_;
};

TEST(DebuggerCapture, IsNothingWithoutRenderDoc) {
  ASSERT_EQ(::dlopen("librenderdoc.so", RTLD_NOW | RTLD_NOLOAD), nullptr) << "a debugger is attached";
  const DebuggerCapture capture;
}

TEST(DebuggerCapture, StartsAndEndsOneOfAnAttachedRenderDoc) {
  const FakeRenderDoc debugger;
  ASSERT_TRUE(debugger.attached()) << ::dlerror();
  {
    const DebuggerCapture capture;
    EXPECT_EQ(debugger.count("started"), 1);
    EXPECT_EQ(debugger.count("ended"), 0);
  }
  EXPECT_EQ(debugger.count("ended"), 1);
  { const DebuggerCapture another; }
  EXPECT_EQ(debugger.count("started"), 2);
  EXPECT_EQ(debugger.count("ended"), 2);
  EXPECT_EQ(debugger.count("wrong"), 0) << "another function was called, or one in the wrong order";
}

std::vector<std::string>& heard() {
  static std::vector<std::string> labels;
  return labels;
}

/// Records the labels of all submissions during its lifetime, and passes them on to the layer.
class Ear {
 public:
  explicit Ear(Instance::State& instance) : instance_(instance), begin_(instance.begin_label) {
    heard().clear();
    real() = begin_;
    instance_.begin_label = listen;
  }
  ~Ear() { instance_.begin_label = begin_; }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

 private:
  static PFN_vkCmdBeginDebugUtilsLabelEXT& real() {
    static PFN_vkCmdBeginDebugUtilsLabelEXT function = nullptr;
    return function;
  }
  static void VKAPI_PTR listen(VkCommandBuffer commands, const VkDebugUtilsLabelEXT* label) {
    heard().emplace_back(label->pLabelName);
    real()(commands, label);
  }

  Instance::State& instance_;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_;
};

class Labels : public GpuTest {};

TEST_F(Labels, EverySubmissionOfAProgramCarriesItsName) {
  if (instance().state().begin_label == nullptr) GTEST_SKIP() << "no VK_EXT_debug_utils here";
  directory.write("one.comp", shader_text(buffers({"y"}), "y.data[0] = 1u;"));
  Program program;
  program.dispatches.push_back(
      {.label = "one", .shader = "one.comp", .local_size = {1, 1, 1}, .bindings = {Resource::tensor(0)}});
  Workspace memory = workspace(program, {words(64)});
  Executable prepared = executable(program);
  prepared.set_label("op/case/impl");
  const Ear ear(instance().state());
  prepared.run(memory, "op/case/impl", timeout_s);
  prepared.setup(memory, timeout_s);
  prepared.time(memory, {.batch = 3}, timeout_s);
  EXPECT_THAT(heard(), ElementsAre("op/case/impl", "op/case/impl: setup", "op/case/impl: timed batch"));
  if (!prepared.dispatch_ns(memory, timeout_s).empty()) {
    EXPECT_EQ(heard().back(), "op/case/impl: stamped pass");
  }
}

}  // namespace

}  // namespace assay::gpu
