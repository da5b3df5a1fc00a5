#pragma once

#include "harness/gpu/program/bindings.h"

#include <functional>

namespace assay::gpu {

/// Which dispatches of a program are recorded.
enum class Part : std::uint8_t { All, Setup, Timed };
bool belongs(DispatchRole role, Part part);

/// A program with its pipelines. It can be recorded any number of times, each time with other bindings (so
/// that a batch may rotate over several workspaces).
struct Recordable {
  const DeviceTable& table;
  const Program& program;
  std::span<const SharedPipeline> pipelines;

  /// Records the dispatches of `part` in order, with a full compute barrier between each two. There is no
  /// barrier before the first or after the last: that depends on what surrounds the program. `after_each`, if
  /// given, is called after each dispatch and its barrier, and after the last dispatch.
  void record(VkCommandBuffer commands, const Bindings& bindings, Part part,
              const std::function<void()>& after_each = {}) const;

 private:
  void record_dispatch(VkCommandBuffer commands, const Bindings& bindings, std::size_t index) const;
};

/// Work that a submission can record at its end. Barriers around it are the caller's.
struct AppendedWork {
  AppendedWork() = default;
  AppendedWork(const AppendedWork&) = delete;
  AppendedWork& operator=(const AppendedWork&) = delete;
  virtual ~AppendedWork() = default;
  virtual void record(VkCommandBuffer commands) = 0;
};

}  // namespace assay::gpu
