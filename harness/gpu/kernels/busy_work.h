#pragma once

#include "harness/gpu/kernels/clock_probe.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay::gpu {

/// The thread that submits the work, and what it submits. All of it belongs to the thread alone, except what
/// `mutex_` guards.
struct BusyWork::State {
  /// The device has a second queue. `rounds` of the clock probe are one submission.
  State(Device& device, ShaderLibrary& shaders, std::uint32_t rounds);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start();
  void stop();

 private:
  void create_commands();
  void record(std::uint32_t rounds);
  void work();
  /// Submits the work once and waits for it. False: the device is lost or hangs.
  bool submit();

  Device::State& device_;
  ClockProbeKernel kernel_;
  Handle<VkCommandPool> pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Handle<VkFence> fence_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false;
  bool running_ = false;  ///< a submission is on its way
  bool closing_ = false;
  std::thread thread_;  ///< the last member: it uses the others
};

}  // namespace assay::gpu
