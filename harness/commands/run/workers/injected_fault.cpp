#include "harness/commands/run/workers/injected_fault.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/names.h"
#include "harness/cases/select.h"
#include "harness/gpu/gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <unistd.h>

namespace assay::app {
namespace {

constexpr Names<12> kinds{"segfault",      "abort",        "exit",        "kill",
                          "host-loop",     "compile-loop", "device-loop", "device-lost",
                          "out-of-memory", "garbage",      "half-line",   "flood"};

[[noreturn]] void loop_for_ever() {
  for (;;) sleep_for_seconds(1);
}

/// Simulates a driver or kernel that prints more than anyone reads.
void write_flood() {
  const std::string line(999, '.');
  for (int i = 0; i < 100'000; ++i) std::cerr << line << '\n';
}

}  // namespace

InjectedFault::InjectedFault(const std::string& text) {
  if (text.empty()) return;
  const std::size_t at = text.find('@');
  const std::optional<FaultKind> kind = value_in<FaultKind>(kinds, text.substr(0, at));
  if (!kind || at == text.npos || at + 1 == text.size()) {
    throw Error(
        fmt::format("--inject-fault '{:.60}' is not KIND@GLOB with a glob over ids and one of the kinds {}",
                    text, fmt::join(kinds, ", ")));
  }
  kind_ = *kind;
  glob_ = text.substr(at + 1);
}

void InjectedFault::begin(std::string_view id, WorkerOutput& output) {
  is_on_ = !glob_.empty() && glob_matches(glob_, id);
  if (!is_on_) return;
  switch (kind_) {
    case FaultKind::Segfault:
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
      break;
    case FaultKind::Abort:
      std::abort();
    case FaultKind::Exit:
      ::_exit(0);
    case FaultKind::Kill:
      ::kill(::getpid(), SIGKILL);
      break;
    case FaultKind::HostLoop:
      loop_for_ever();
    case FaultKind::Garbage:
      output.line("\x1b[31mgarbage");
      break;
    case FaultKind::HalfLine:
      output.text(R"({"event":"beg)");
      ::_exit(0);
    case FaultKind::Flood:
      write_flood();
      break;
    case FaultKind::CompileLoop:
    case FaultKind::DeviceLoop:
    case FaultKind::DeviceLost:
    case FaultKind::OutOfMemory:
      break;  // injected in phase()
  }
}

void InjectedFault::phase(Phase phase) const {
  if (!is_on_) return;
  if (kind_ == FaultKind::CompileLoop && phase == Phase::Compile) loop_for_ever();
  if (phase != Phase::Dispatch) return;
  if (kind_ == FaultKind::DeviceLoop) loop_for_ever();
  if (kind_ == FaultKind::DeviceLost) throw gpu::DeviceLost("injected: VK_ERROR_DEVICE_LOST");
  if (kind_ == FaultKind::OutOfMemory) throw gpu::OutOfMemory("injected: VK_ERROR_OUT_OF_DEVICE_MEMORY");
}

}  // namespace assay::app
