#pragma once

#include "harness/base/clock.h"
#include "harness/gpu/device/device.h"
#include "harness/gpu/device/vk.h"

#include <string>

namespace assay::gpu {

/// The timestamps of one submission. Only for queues that have timestamps: see available().
class Stamps {
 public:
  /// Whether the queue has timestamps that are not distrusted.
  static bool available(const Device::State& device) { return device.has_timestamps(); }

  Stamps(Device::State& device, std::uint32_t count);

  /// Resets all timestamps; must be recorded before the first stamp().
  void reset(VkCommandBuffer commands) const;

  /// Records the next timestamp at the bottom of the pipe: the time at which everything recorded before it
  /// has ended. Both timestamps of a pair use that stage. The top of the pipe would be wrong for the first
  /// (drivers write it while the warm-up still runs) and for the last (before the work has ended); the same
  /// stage at both ends has the same latency, which the difference cancels. Record a barrier before each
  /// timestamp, so that the work after it starts at the moment that the timestamp shows.
  void stamp(VkCommandBuffer commands);

  /// The ticks of all timestamps in order; call it after the submission has ended.
  std::vector<std::uint64_t> ticks() const;
  /// Times in ns from timestamp i to timestamp i+1.
  std::vector<double> steps_ns() const;

 private:
  Device::State& device_;
  std::uint32_t count_;
  std::uint32_t next_ = 0;
  Handle<VkQueryPool> pool_;
};

/// Who accessed memory before a barrier, or will access it after the barrier.
enum class Scope : std::uint8_t {
  Compute,          ///< shaders reading and writing storage
  Transfer,         ///< copies
  Host,             ///< the CPU, through mapped memory
  TransferAndHost,  ///< copies out, and the CPU
  Anything,         ///< all of these
};

/// Records a memory barrier: `after` starts when `before` has ended and sees what `before` wrote.
void barrier(const DeviceTable& table, VkCommandBuffer commands, Scope before, Scope after);

/// Call this when a device hangs. From then on std::exit() and a return from main() flush the standard
/// streams and exit immediately with their exit code. Static destructors and exit handlers that were
/// registered before this call do not run: some drivers register handlers that wait for the GPU forever (seen
/// with NVIDIA 580; the kernel ends a hung context within seconds once the process is gone). Needs glibc;
/// does nothing elsewhere.
void leave_at_once_on_exit();

/// One command buffer, from recording to fence. A device runs one submission at a time.
class Submission {
 public:
  enum class Use : std::uint8_t {
    Once,     ///< uses the device's own command buffer: one such submission at a time
    Repeated  ///< has a command buffer of its own, which may be submitted again
  };

  /// Begins recording. `doing` says in messages what the submission does ("running 'x/small'"); `label` names
  /// it in debuggers. Throws DeviceLost when the device is already gone.
  Submission(Device::State& device, std::string doing, std::string_view label = {}, Use use = Use::Once);
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  VkCommandBuffer commands() const { return commands_; }

  /// Ends the recording if it is still open, submits and waits. Returns ns from submission to fence by the
  /// CPU's clock. Throws Timeout, also for a submission that finished late (see Timeout), what check()
  /// throws, and DeviceLost: also when it is the wait that fails, after which the device is leaked as after a
  /// hang.
  double submit_and_wait(double timeout_s);

 private:
  void begin(Use use);
  void end();
  void wait(double timeout_s);
  VkResult wait_for_fence(double seconds);
  [[noreturn]] void wait_longer(double timeout_s, const Stopwatch& watch);
  /// Throws when a wait failed. The submission then counts as one that does not end.
  void check_waited(VkResult result, std::string_view step);
  void abandon();
  [[noreturn]] void give_up(double timeout_s, double longer_s);
  /// Calls Device::State::check_alive().
  void check_alive(VkResult result, std::string_view step);

  Device::State& device_;
  std::string doing_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  bool owned_ = false;
  bool labelled_ = false;
  bool ended_ = false;
};

}  // namespace assay::gpu
