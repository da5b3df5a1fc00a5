#include "harness/gpu/gpu.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>

namespace assay::gpu {
namespace {

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

}  // namespace
}  // namespace assay::gpu
