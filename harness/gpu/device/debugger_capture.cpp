#include "harness/gpu/gpu.h"

#include <array>
#include <dlfcn.h>

namespace assay::gpu {
namespace {

// The part of RenderDoc's in-application interface 1.0.0 that we use: a table of function pointers in a fixed
// order, filled by RENDERDOC_GetAPI. It is declared here so that RenderDoc's header is not needed.
using GetApi = int (*)(int version, void** table);
using Function = void (*)();
using StartCapture = void (*)(void* device, void* window);
using EndCapture = std::uint32_t (*)(void* device, void* window);

constexpr int api_version = 10000;  // 1.0.0
constexpr std::size_t start_index = 19;
constexpr std::size_t end_index = 21;
using Table = std::array<Function, end_index + 1>;

/// The table of an attached RenderDoc, or null. We never load RenderDoc: it must be loaded before Vulkan.
const Table* attached() {
  void* const library = ::dlopen("librenderdoc.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto get_api = reinterpret_cast<GetApi>(::dlsym(library, "RENDERDOC_GetAPI"));
  void* table = nullptr;
  const bool found = get_api != nullptr && get_api(api_version, &table) == 1;
  ::dlclose(library);  // only undoes the count of dlopen: RenderDoc stays loaded
  return found ? static_cast<const Table*>(table) : nullptr;
}

}  // namespace

bool DebuggerCapture::is_possible() {
  return attached() != nullptr;
}

// Null means the only device and no window.
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
