#pragma once

// The whole of what the engine needs from a GPU, in eight nouns:
//   Instance  -> the loader, the validation layer's messages, the devices there are
//   Device    -> one opened device: queue, memory
//   ShaderLibrary -> GLSL sources (embedded or --shaders DIR) to SPIR-V, cached
//   Executable -> a Program's pipelines on a device
//   Workspace -> one set of a Program's tensors and scratch in device memory: guarded buffers, textures
//   DeviceMemory -> what is done to workspaces without the host: poisoning, copying, comparing
//   Timing    -> what one timed submission took
//   Clock probe     -> the device's clock, watched
// Vulkan types never leave harness/gpu.

#include "harness/base/error.h"
#include "harness/base/phase.h"
#include "harness/op/device_info.h"
#include "harness/op/program.h"
#include "harness/op/timer_calibration.h"
#include "harness/tensor/form.h"
#include "harness/tensor/pack.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// Bytes before and after the data of every buffer, inside the descriptor's range. A multiple of 256.
inline constexpr std::uint32_t guard_bytes = 1024;

/// The guard of a resource of that form, where buffers have `guard` bytes. A texture has none: Vulkan drops
/// what is stored outside of it, so that there is nothing to see.
constexpr std::uint32_t guard_of(Form form, std::uint32_t guard) {
  return form.storage == Storage::Buffer ? guard : 0;
}

/// Status OUT_OF_MEMORY: an allocation failed; the message says how much was asked for and what.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Status DEVICE_LOST: the device is gone; nothing more can run on it in this process.
class DeviceLost : public Error {
 public:
  explicit DeviceLost(const std::string& message) : Error(message, ExitCode::Infrastructure) {}
};

/// Status TIMEOUT: a submission did not end in time. It is waited for ten times as long again (5 s at least,
/// 30 s at most). Where it ends in that time, the device is as before. Else the device counts as lost
/// (Device::alive), all that belongs to it is leaked, and the process leaves without the exit handlers of
/// before (harness/gpu/program/hung_exit.h).
class Timeout : public Error {
 public:
  explicit Timeout(const std::string& message) : Error(message, ExitCode::Infrastructure) {}
};

/// Status UNSUPPORTED: the device cannot run a program, as its compiled shaders tell; the message has the
/// number asked for and the limit. What can be told before is for unsupported() to tell.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A shader that does not compile. The message quotes the line of the GLSL file it stands in.
class CompileError : public Error {
 public:
  using Error::Error;
};

struct InstanceOptions {
  bool validation =
      false;  ///< turn on VK_LAYER_KHRONOS_validation; Error(Usage) with the package's name when missing
  /// Shaders reach nothing past what is bound: devices check each access. All that a device has of
  /// robustBufferAccess, robustImageAccess and the same of cooperative matrices.
  bool robust_access = false;
};

class Instance {
 public:
  /// Throws Error(NoDevice) when there is no Vulkan loader.
  explicit Instance(const InstanceOptions& options = {});
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// The devices of Vulkan >= 1.1 with a compute queue, in the loader's order. May be empty.
  const std::vector<DeviceInfo>& devices() const;

  /// Messages of the validation layer (warnings and errors, but not about performance) so far.
  std::int64_t validation_messages() const;
  /// Their different texts, oldest first, as far as they are kept: of those that were said (again) after the
  /// first `after` messages.
  std::vector<std::string> validation_texts(std::int64_t after = 0) const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Picks by index ("0"), UUID, or a part of the name (case-insensitive); empty: the best one (discrete before
/// integrated before virtual before cpu). "all" gives every device. Throws Error(Usage) that lists the
/// devices when nothing or, for a name, more than one matches; Error(NoDevice) when there is none at all.
std::vector<std::size_t> select_devices(const std::vector<DeviceInfo>& devices,
                                        const std::vector<std::string>& asked);

class Device {
 public:
  Device(Instance& instance, std::size_t index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const;

  /// False when it was lost or hangs: nothing can run on it any more in this process.
  bool alive() const;

  /// `listener` is told from now on what this process does with the device: each phase as it begins, those of
  /// the host too. A row that is timed is one phase, and so are the ceilings: nothing is told between
  /// programs.
  void watch_phases(PhaseListener listener);
  /// Tells it a phase that is not the device's own: Host, Reference, Timing.
  void tell_phase(Phase phase, double limit_s = 0);

  /// From here on the device counts as one without timestamps: Timing has no gpu_ns, dispatch_ns is empty.
  void distrust_timestamps();

  /// Takes what the driver compiled in earlier runs from a file in `directory` (empty: nowhere), where
  /// save_pipelines() keeps what it has then. To be called before anything is compiled.
  void keep_pipelines_in(const std::filesystem::path& directory);
  /// Does nothing where the driver has compiled nothing since, keeps nothing itself, or nothing is kept.
  void save_pipelines();

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// SPIR-V words of one (shader, defines), and where they came from.
struct Spirv {
  std::vector<std::uint32_t> words;
  std::string hash;       ///< of the words
  double compile_ms = 0;  ///< 0 when it came from the cache
};

struct ShaderOptions {
  std::vector<std::filesystem::path> directories;  ///< --shaders: searched before the embedded sources
  /// Where SPIR-V is cached; empty: no cache on disk.
  std::filesystem::path cache_directory;
  /// Starts a program that calls serve_compilation(): what is made of files in `directories` is compiled by
  /// it, in bounds of time and memory. Empty: in this process, without bounds.
  std::vector<std::string> compiler{};
};

/// The other side of ShaderOptions::compiler: limits this process, compiles the one request that stdin holds
/// and writes the answer to stdout. Returns the exit code.
int serve_compilation();

/// Files of ShaderOptions::directories by name, sorted.
struct Overrides {
  std::vector<std::string> used;
  std::vector<std::string> unused;
};

/// $XDG_CACHE_HOME/assay/spirv or ~/.cache/assay/spirv.
std::filesystem::path default_cache_directory();

/// $XDG_CACHE_HOME/assay/pipelines or ~/.cache/assay/pipelines; empty without either.
std::filesystem::path default_pipeline_directory();

class ShaderLibrary {
 public:
  explicit ShaderLibrary(ShaderOptions options = {});
  ~ShaderLibrary();

  /// Compiles for Vulkan 1.1 (SPIR-V 1.3), or takes it from memory or the disk cache, whose key is a hash of
  /// all sources that went in, defines and compiler version. A corrupt or foreign entry is rebuilt. Throws
  /// CompileError; Error(Usage) for a shader that does not exist. Any thread may ask: what one compiles,
  /// others wait for.
  const Spirv& compile(const std::string& shader, const std::vector<Define>& defines);

  /// The sources there are: names such as "quantize_affine.comp" and "common/indexing.glslh".
  std::vector<std::string> names() const;

  /// Which files of the directories these shaders are made of: themselves, and what they include, be it
  /// switched off by a define.
  Overrides overrides(std::span<const std::string> shaders) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SPIR-V as text, an instruction a line, names of the source included.
std::string disassemble(std::span<const std::uint32_t> words);

/// One capture of RenderDoc, from its making to its end, of all that is submitted between; nothing when
/// RenderDoc is not attached to the process. A command line without a window has no frames of its own:
/// without this RenderDoc would see none.
class DebuggerCapture {
 public:
  /// Whether RenderDoc is attached.
  static bool is_possible();

  DebuggerCapture();
  ~DebuggerCapture();
  DebuggerCapture(const DebuggerCapture&) = delete;
  DebuggerCapture& operator=(const DebuggerCapture&) = delete;

 private:
  bool started_ = false;
};

/// Why this program cannot run on this device, with the number asked for and the device's limit
/// (UNSUPPORTED's reason), or nothing: features, workgroup sizes and counts, shared memory,
/// push constants, buffer ranges (guards included), texture formats and extents, number of bindings. `names`
/// are those of the tensors, for the message; without them it says "tensor 0".
std::optional<std::string> unsupported(const Program& program, std::span<const Physical> tensors,
                                       std::span<const Feature> needs, const DeviceInfo& device,
                                       std::uint32_t guard, std::span<const std::string> names = {});

class Executable;

/// Device memory for every tensor and scratch of a program, each as its form wants it: a storage buffer of
/// guard + data + guard bytes, or a storage image whose bytes are its texels, x fastest, then y, then z, four
/// lanes each (`Physical::bytes()`). `guard` is guard_bytes for what a case runs, judged or timed, and 0 for
/// memory of the harness's own; it must be the executable's.
class Workspace {
 public:
  /// Throws OutOfMemory, or Error for a texture that unsupported() should have refused before.
  Workspace(Device& device, const Program& program, std::span<const Physical> tensors, std::uint32_t guard);
  /// The same over `shared` of `lender`, a workspace of the same program on the same device: what a program
  /// writes there through one of them is seen through both. The lender must outlive this.
  Workspace(Device& device, const Program& program, std::span<const Physical> tensors,
            const Workspace& lender, std::span<const Resource> shared);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// Bytes of one allocation, guards (see guard_of) included.
  std::uint64_t size(Resource resource) const;
  /// All of one allocation, guards included.
  void write(Resource resource, std::span<const std::byte> bytes);
  std::vector<std::byte> read(Resource resource) const;
  /// A part of one allocation, `offset` bytes from its start; of a texture only all.
  void read(Resource resource, std::uint64_t offset, std::span<std::byte> into) const;
  /// Makes each of `others`, of the same program on the same device, hold what this one holds, except for
  /// what is lent to it: copies on the device, all in one submission.
  void copy_to(std::span<Workspace* const> others) const;
  /// Device memory of the whole set, but for what is lent to it.
  std::uint64_t memory_bytes() const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Copies, poisons and compares what workspaces hold where they are: nothing of it crosses the bus. Each call
/// is done when it returns. The data of a resource are what lies between its guards, of a texture all.
class DeviceMemory {
 public:
  struct Options {
    /// Textures are seen through buffers of so many bytes at most, a piece at a time; a texel (16) at least.
    std::uint64_t window = std::uint64_t{32} << 20;
    /// Kernels do it also where the host reaches the memory as fast (CPUs, integrated devices).
    bool kernels_only = false;
  };
  DeviceMemory(Device& device, ShaderLibrary& shaders);
  DeviceMemory(Device& device, ShaderLibrary& shaders, const Options& options);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// What is poisoned of a resource, and how: the bytes of fill_poison, counted from the allocation's start.
  struct Fill {
    Resource resource;
    std::optional<Poison> data;  ///< nothing: they stay
    Poison guards = Poison::A;
  };
  void poison(Workspace& workspace, std::span<const Fill> fills);

  /// Copies the data of each resource into the same resource of another workspace, of whatever guards.
  void copy(const Workspace& from, Workspace& to, std::span<const Resource> resources);

  /// Whether the data of these resources are the same in two workspaces of whatever guards.
  bool same(const Workspace& a, const Workspace& b, std::span<const Resource> resources);
  /// Whether they are the same in `a` and in each of the others; one submission where kernels compare.
  bool same(const Workspace& a, std::span<const Workspace* const> others,
            std::span<const Resource> resources);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How programs follow each other inside a timed batch.
enum class Spacing : std::uint8_t {
  Barrier,    ///< a compute barrier after each program: the time of one
  Overlapped  ///< none: throughput
};

class ClockProbe;

struct TimedRun {
  int warm = 0;   ///< programs before the first stamp
  int batch = 1;  ///< programs between the stamps
  Spacing spacing = Spacing::Barrier;
  std::size_t first_set = 0;          ///< the workspace of the first program; the others follow in turn
  const ClockProbe* probe = nullptr;  ///< runs behind the batch, timed by itself

  friend bool operator==(const TimedRun&, const TimedRun&) = default;
};

struct Timing {
  std::optional<double>
      gpu_ns;          ///< between the two stamps; absent without timestamps, or when they are distrusted
  double wall_ns = 0;  ///< submit to fence on the CPU's clock
  std::optional<double> probe_ns;
};

/// What the driver tells of a program's compiled shaders: of each, the largest of its timed dispatches;
/// absent where it does not tell.
struct ExecutableStatistics {
  std::optional<std::int64_t> registers;    ///< an invocation's
  std::optional<std::int64_t> spill_bytes;  ///< private memory of an invocation: what no register holds
  /// Of a workgroup; what the program declares where the driver does not tell.
  std::optional<std::int64_t> shared_bytes;
};

/// What a program's shaders may do with one of its tensors.
enum class TensorAccess : std::uint8_t {
  Any,
  Read,  ///< an input: no instruction changes it, but for Program::free_access_because
  Write  ///< an output: no instruction takes what is there, with the same exception
};

/// A program's pipelines.
class Executable {
 public:
  /// Compiles shaders and creates pipelines for workspaces of `tensors`, whose forms decide what each binding
  /// is. Throws CompileError; Error where a shader and the program disagree (harness/gpu/program/
  /// interface_check.h); Unsupported; or what unsupported() should have told before.
  /// `access`: of each tensor; empty: any.
  Executable(Device& device, ShaderLibrary& shaders, const Program& program,
             std::span<const Physical> tensors, std::uint32_t guard,
             std::span<const TensorAccess> access = {});
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;

  const Program& program() const;
  double compile_ms() const;       ///< GLSL to pipeline, all dispatches
  std::string spirv_hash() const;  ///< of the SPIR-V of all dispatches, in order

  /// Of all that the device runs: SPIR-V, specialization, workgroups, push constants, roles and order of the
  /// dispatches, what each binds, in which form and which type of memory. Rows of equal hash are one program.
  std::string program_hash(const Workspace& workspace) const;

  /// Compiles each timed dispatch once more where the driver tells anything: not for every row.
  ExecutableStatistics statistics() const;

  /// From now on dispatch `index` has other workgroups and push constants, as many as before: the pipeline is
  /// the same. Throws std::logic_error for more or fewer push constants, or no such dispatch.
  void vary(std::size_t index, const std::array<std::uint32_t, 3>& workgroups, const PushConstants& push);

  /// What setup, timed batches and stamped passes are called in debuggers, messages included: the case's id.
  void set_label(std::string label);

  /// Runs everything once, setup dispatches included, and waits. `label` names the submission in debuggers.
  /// Throws Timeout, DeviceLost.
  void run(Workspace& workspace, std::string_view label, double timeout_s);

  /// Runs the setup dispatches only, and waits.
  void setup(Workspace& workspace, double timeout_s);
  /// The same and the time of it in ns: on the device's clock, else on the CPU's from submit to fence; 0 for
  /// a program without.
  double setup_ns(Workspace& workspace, double timeout_s);

  /// One TimedBatch, submitted once.
  Timing time(std::span<Workspace* const> workspaces, const TimedRun& run, double timeout_s);
  Timing time(Workspace& workspace, const TimedRun& run, double timeout_s);

  /// The share of each timed dispatch, in ns, from one submission with a stamp after each; empty without
  /// timestamps.
  std::vector<double> dispatch_ns(Workspace& workspace, double timeout_s);

  /// How one program is timed by itself.
  struct Isolated {
    Workspace* before = nullptr;  ///< what `warm` programs run over first, in the same submission
    int warm = 1;
    std::span<const Resource> poisoned;  ///< of the timed program's, whose data are overwritten behind these
    std::uint32_t poison = 0;            ///< with this word
  };
  /// ns between two stamps around one program over `workspace`; nothing without timestamps.
  std::optional<double> isolated_ns(Workspace& workspace, const Isolated& how, double timeout_s);

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Compiles what an Executable of these is made of, so that one that is made soon finds it there; any thread
/// may. The device is told no phase. Throws as Executable does.
void prepare_executable(Device& device, ShaderLibrary& shaders, const Program& program,
                        std::span<const Physical> tensors, std::uint32_t guard,
                        std::span<const TensorAccess> access);

/// A timed submission, recorded once and submitted any number of times: run.warm programs, stamp, run.batch
/// programs, stamp, and where there is one the clock probe and a stamp. Setup dispatches are left out. Of
/// several workspaces each program takes the next one.
class TimedBatch {
 public:
  /// All must outlive this, and as long as this is used the executable runs over no other workspaces.
  TimedBatch(Executable& executable, std::span<Workspace* const> workspaces, const TimedRun& run);
  ~TimedBatch();
  TimedBatch(TimedBatch&&) noexcept;
  TimedBatch& operator=(TimedBatch&&) noexcept;

  /// Throws Timeout, DeviceLost.
  Timing submit(double timeout_s);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A kernel that always does the same and hardly touches memory, so that its time tells the device's clock:
/// about 80 us at full clock, 200 us on a device of type "cpu".
class ClockProbe {
 public:
  /// Heats the device (up to 2 s of work, until it no longer gets faster) to choose the clock probe's length.
  ClockProbe(Device& device, ShaderLibrary& shaders);
  ~ClockProbe();
  ClockProbe(ClockProbe&&) noexcept;
  ClockProbe& operator=(ClockProbe&&) noexcept;

  /// One reading, from a submission of its own behind a run of the clock probe that is not timed: ns between
  /// the stamps, or from submit to fence when the queue has no timestamps. Throws Timeout, DeviceLost.
  double time_ns(double timeout_s);

  /// Appends a dispatch of the clock probe's work to a program: about `ns` at full clock, an empty dispatch
  /// at least. To slow a program down on purpose.
  void burden(Program& program, double ns) const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// The two stamps of a queue made into a time: valid bits masked, wrap handled, period as double.
double ticks_to_ns(std::uint64_t begin, std::uint64_t end, std::uint32_t valid_bits, double period_ns);

/// Measures the timestamps of the device's queue and holds them against the CPU's clock: some 0.3 s of work
/// on a warm device, up to 2 s more on one that is idle. Throws Timeout, DeviceLost, CompileError. It trusts
/// nothing: whoever gets a timer that is broken calls device.distrust_timestamps().
TimerCalibration calibrate_timer(Device& device, ShaderLibrary& shaders);

}  // namespace assay::gpu
