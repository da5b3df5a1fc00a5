#include "harness/gpu/gpu.h"

#include <array>
#include <dlfcn.h>

namespace assay::gpu {
namespace {

// What we need of RenderDoc's in-application interface, version 1.0.0: a table of function pointers whose
// order never changes, filled by RENDERDOC_GetAPI. Ours to declare: its header is no dependency.
using GetApi = int (*)(int version, void** table);
using Function = void (*)();
using StartCapture = void (*)(void* device, void* window);
using EndCapture = std::uint32_t (*)(void* device, void* window);

constexpr int api_version = 10000;  // 1.0.0
constexpr std::size_t start_index = 19;
constexpr std::size_t end_index = 21;
using Table = std::array<Function, end_index + 1>;

/// The table of an attached RenderDoc, or null. It is never loaded by us: it must come before Vulkan does.
const Table* attached() {
  void* const library = ::dlopen("librenderdoc.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto get_api = reinterpret_cast<GetApi>(::dlsym(library, "RENDERDOC_GetAPI"));
  void* table = nullptr;
  const bool found = get_api != nullptr && get_api(api_version, &table) == 1;
  ::dlclose(library);  // counts what dlopen counted; whoever attached it keeps it
  return found ? static_cast<const Table*>(table) : nullptr;
}

}  // namespace

bool DebuggerCapture::is_possible() {
  return attached() != nullptr;
}

// Null stands for the only device and no window.
DebuggerCapture::DebuggerCapture() {
  const Table* const table = attached();
  if (table == nullptr) return;
  reinterpret_cast<StartCapture>((*table)[start_index])(nullptr, nullptr);
  started_ = true;
}

DebuggerCapture::~DebuggerCapture() {
  const Table* const table = started_ ? attached() : nullptr;
  if (table != nullptr) reinterpret_cast<EndCapture>((*table)[end_index])(nullptr, nullptr);
}

}  // namespace assay::gpu
