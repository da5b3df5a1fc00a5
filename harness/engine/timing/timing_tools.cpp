#include "harness/engine/timing/timing_tools.h"

namespace assay {
namespace {

constexpr double gpu_tolerance = 0.03;
constexpr double cpu_tolerance = 0.25;

TimerCalibration calibrated(gpu::Device& device, gpu::ShaderLibrary& shaders,
                            const std::optional<TimerCalibration>& known) {
  TimerCalibration timer = known ? *known : gpu::calibrate_timer(device, shaders);
  if (timer.quality == TimerQuality::Broken) device.distrust_timestamps();
  return timer;
}

}  // namespace

TimingTools::TimingTools(gpu::Device& owner, gpu::ShaderLibrary& shaders,
                         const std::optional<TimerCalibration>& known)
    : device(owner),
      timer(calibrated(owner, shaders, known)),
      probe(owner, shaders),
      busy(owner, shaders, probe),
      clock(owner.info().type == "cpu" ? cpu_tolerance : gpu_tolerance) {}

}  // namespace assay
