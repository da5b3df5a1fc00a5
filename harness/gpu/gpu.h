#pragma once

// Everything that the engine needs from a GPU, in eight nouns:
//   Instance  -> the loader, the validation layer's messages, the list of devices
//   Device    -> one opened device: queue, memory
//   ShaderLibrary -> GLSL sources (embedded or --shaders DIR) to SPIR-V, cached
//   Executable -> a Program's pipelines on a device
//   Workspace -> one set of a Program's tensors and scratch in device memory: guarded buffers, textures
//   DeviceMemory -> poisons, copies and compares workspaces on the device, without the host
//   Timing    -> the times of one timed submission
//   ClockProbe -> a kernel of fixed work whose time shows the device's clock
// Vulkan types never leave harness/gpu.

#include "harness/base/error.h"
#include "harness/base/status.h"
#include "harness/device/device_info.h"
#include "harness/device/device_profile.h"
#include "harness/op/program.h"
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

/// Guard size in bytes of a resource in `form`, when buffers have guards of `guard` bytes. A texture has
/// none: Vulkan drops stores outside of it, so a guard would never change.
constexpr std::uint32_t guard_of(Form form, std::uint32_t guard) {
  return form.storage == Storage::Buffer ? guard : 0;
}

/// Status OUT_OF_MEMORY: an allocation failed; the message says how many bytes were requested and for what.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Status DEVICE_LOST: the device is gone; nothing more can run on it in this process.
class DeviceLost : public Error {
 public:
  explicit DeviceLost(const std::string& message) : Error(message, ExitCode::Infrastructure) {}
};

/// Status TIMEOUT: a submission did not finish in time. The harness then waits ten times as long again (at
/// least 5 s, at most 30 s). If the submission finishes in that time, the device stays usable. Otherwise the
/// device counts as lost (Device::alive), everything made from it is leaked, and the process exits without
/// running the exit handlers that were registered before (harness/gpu/commands/submission.h).
class Timeout : public Error {
 public:
  explicit Timeout(const std::string& message) : Error(message, ExitCode::Infrastructure) {}
};

/// Status UNSUPPORTED: the compiled shaders of a program need more than the device has; the message gives the
/// requested number and the limit. What is known without compiling is reported by unsupported().
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A shader does not compile. The message quotes the offending line of the GLSL file.
class CompileError : public Error {
 public:
  using Error::Error;
};

struct InstanceOptions {
  /// Turn on VK_LAYER_KHRONOS_validation; when it is not installed, Error(Usage) names its package.
  bool validation = false;
  /// Devices check every access, so shaders reach nothing outside of what is bound. Enables whichever of
  /// robustBufferAccess, robustImageAccess, cooperativeMatrixRobustBufferAccess and
  /// shaderZeroInitializeWorkgroupMemory a device has; with the last, workgroup memory is zero at first.
  bool robust_access = false;
  /// Each device has the limits and features that both it and the profile have (restricted()), and opens
  /// without the features that the profile lacks.
  std::optional<DeviceProfile> as_if{};
};

class Instance {
 public:
  /// Throws Error(NoDevice) when there is no Vulkan loader, and when the drivers of all devices fail.
  explicit Instance(const InstanceOptions& options = {});
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// The devices of Vulkan >= 1.1 with a compute queue, in the loader's order, but for those whose drivers
  /// fail. May be empty.
  const std::vector<DeviceInfo>& devices() const;

  /// Number of messages from the validation layer so far: warnings and errors, without those about
  /// performance.
  std::int64_t validation_messages() const;
  /// Distinct texts of the messages that came, or came again, after the first `after` messages; oldest first,
  /// as far as they are kept.
  std::vector<std::string> validation_texts(std::int64_t after = 0) const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Picks devices by index ("0"), UUID, or a part of the name (case-insensitive); "all" picks every device, an
/// empty list the best one (discrete before integrated before virtual before cpu). Throws Error(Usage) that
/// lists the devices when nothing matches or a name matches more than one; Error(NoDevice) when there are no
/// devices.
std::vector<std::size_t> select_devices(const std::vector<DeviceInfo>& devices,
                                        const std::vector<std::string>& asked);

class Device {
 public:
  Device(Instance& instance, std::size_t index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const;

  /// False when the device was lost or hangs: nothing more can run on it in this process.
  bool alive() const;

  /// Whether uninitialized variables of an invocation hold what Uninitialized says: on devices that are a
  /// CPU. Elsewhere programs run, and are timed, as they are.
  bool poisons_variables() const;

  /// From now on `listener` is called as each phase of this process's work with the device begins, phases on
  /// the host included. Timing a row is a single phase, and so is measuring the ceilings: who does it tells
  /// that it goes on.
  void watch_phases(PhaseListener listener);
  /// Reports a phase that the device does not report itself: Host, Reference, Timing.
  void tell_phase(Phase phase, double limit_s = 0);

  /// From now on the device is treated as one without timestamps: Timing has no gpu_ns, dispatch_ns() is
  /// empty.
  void distrust_timestamps();
  /// Whether Timing has a gpu_ns: the queue has timestamps, and they are not distrusted.
  bool has_timestamps() const;

  /// From now on info() does not list a shape of matrices; `why` joins DeviceInfo::wrong_matrices.
  void distrust_matrices(const CooperativeShape& shape, std::string why);

  /// Loads the driver's pipeline cache of earlier runs from a file in `directory` (empty: no cache on disk);
  /// save_pipelines() writes it back. Call this before anything is compiled.
  void keep_pipelines_in(const std::filesystem::path& directory);
  /// Writes the pipeline cache to its file. Does nothing when the driver has compiled nothing new or has an
  /// empty cache, or when no directory was given.
  void save_pipelines();

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// SPIR-V of one shader with its defines.
struct Spirv {
  std::vector<std::uint32_t> words;
  std::string hash;       ///< SHA-256 of the words
  double compile_ms = 0;  ///< 0 when it came from the cache
  /// Some file of it is not assay's own: it may then have specialization constants that no op sets.
  bool is_foreign = false;
};

struct ShaderOptions {
  std::vector<std::filesystem::path> directories;  ///< --shaders: searched before the embedded ones
  /// Where SPIR-V is cached; empty: no cache on disk.
  std::filesystem::path cache_directory;
  /// Command of a program that calls serve_compilation(). Shaders made of files in `directories` are compiled
  /// in that process, with limits on time and memory. Empty: they are compiled in this process, without
  /// limits.
  std::vector<std::string> compiler{};
};

/// Implements the process that ShaderOptions::compiler starts: limits its own time and memory, compiles the
/// one request on stdin and writes the answer to stdout. Returns the exit code.
int serve_compilation();

/// Names of the files in ShaderOptions::directories, sorted.
struct Overrides {
  std::vector<std::string> used;
  std::vector<std::string> unused;
};

/// $XDG_CACHE_HOME/assay/spirv or ~/.cache/assay/spirv.
std::filesystem::path default_cache_directory();

/// $XDG_CACHE_HOME/assay/pipelines or ~/.cache/assay/pipelines; empty without either.
std::filesystem::path default_pipeline_directory();

/// A kernel's name, and where else it is looked for (ExternalCall::folders).
using KernelName = std::pair<std::string, std::vector<std::filesystem::path>>;

KernelName kernel_of(const Dispatch& dispatch);

class ShaderLibrary {
 public:
  explicit ShaderLibrary(ShaderOptions options = {});
  ~ShaderLibrary();

  /// Compiles for Vulkan 1.1 (SPIR-V 1.3), or takes the result from memory or the disk cache, whose key is a
  /// hash of all sources used, the defines and the compiler version. A corrupt or foreign entry is rebuilt.
  /// Throws CompileError; Error(Usage) for a shader that does not exist. Thread-safe: when several threads
  /// ask for the same shader, one compiles it and the others wait. A name that ends in .spv is a module that
  /// is only checked. Files are read once: later changes of them are for another library. `folders`:
  /// ExternalCall::folders.
  const Spirv& compile(const std::string& shader, const std::vector<Define>& defines,
                       const std::vector<std::filesystem::path>& folders = {});
  /// The module of a dispatch.
  const Spirv& compile(const Dispatch& dispatch);

  /// Paths of all sources below their folders, such as "affine/quantize_affine.comp" and
  /// "common/indexing.glslh".
  std::vector<std::string> names() const;

  /// Which files of ShaderOptions::directories these kernels use: the kernels themselves and everything they
  /// include, even where a define switches the include off.
  Overrides overrides(std::span<const KernelName> kernels) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The module without what is there for people: names (except those of specialization constants, which are
/// set by name), source texts and lines. Equal results run equally. Words that are no module stay as they
/// are.
std::vector<std::uint32_t> without_debug_information(std::span<const std::uint32_t> words);

/// Whether an invocation might read a variable of its own (storage classes Function and Private) before that
/// is set. False is certain; true is not: a variable that is set part by part counts, and so does any module
/// whose control flow cannot be followed.
bool may_read_uninitialized(std::span<const std::uint32_t> words);

/// SPIR-V as text, one instruction per line, with the names from the source.
std::string disassemble(std::span<const std::uint32_t> words);

/// A RenderDoc capture of everything that is submitted during this object's lifetime; does nothing when
/// RenderDoc is not attached to the process. A command-line program presents no frames, so without this
/// RenderDoc would have nothing to capture.
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

/// Why this program cannot run on this device, with the requested number and the device's limit (the reason
/// of UNSUPPORTED); nothing when it can. Checks features, workgroup sizes and counts, shared memory, push
/// constants, buffer ranges (guards included), texture formats and extents, and the number of bindings.
/// `names` are the tensors' names for the message; without them it says "tensor 0".
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
  /// Several workspaces of one program whose memory is allocated together: drivers allocate slowly.
  static std::vector<Workspace> several(std::size_t count, Device& device, const Program& program,
                                        std::span<const Physical> tensors, std::uint32_t guard);
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
  /// The same for these resources alone, guards included; of the programs nothing else need be the same.
  void copy_to(std::span<Workspace* const> others, std::span<const Resource> resources) const;
  /// Device memory of the whole set, but for what is lent to it.
  std::uint64_t memory_bytes() const;

  struct State;
  State& state() const { return *state_; }

 private:
  explicit Workspace(std::unique_ptr<State> state);

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

  /// One resource's data that become another's, which is as large.
  struct Copy {
    Resource from, to;
  };
  void copy(const Workspace& from, Workspace& to, std::span<const Copy> copies);

  /// Whether the data of these resources are the same in two workspaces of whatever guards.
  bool same(const Workspace& a, const Workspace& b, std::span<const Resource> resources);
  /// Whether they are the same in `a` and in each of the others; one submission where kernels compare.
  bool same(const Workspace& a, std::span<const Workspace* const> others,
            std::span<const Resource> resources);
  /// The same with the guards, which must be as large in all of them.
  bool same_with_guards(const Workspace& a, std::span<const Workspace* const> others,
                        std::span<const Resource> resources);
  /// Whether the guards alone are the same. Textures have none.
  bool same_guards(const Workspace& a, std::span<const Workspace* const> others,
                   std::span<const Resource> resources);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Leaves poison in workgroup memory, where a program that runs next finds it unless the driver clears it. A
/// driver need not use all of its cores or threads for a small dispatch, so some of the memory may keep what
/// it held.
void poison_workgroup_memory(Device& device, Poison poison);

/// How programs follow each other inside a timed batch.
enum class Spacing : std::uint8_t {
  Barrier,    ///< a compute barrier after each program: measures the time of one program
  Overlapped  ///< no barriers: measures throughput
};

/// Work that other submissions record at their end: the clock probe's.
struct AppendedWork;

struct TimedRun {
  int warm = 0;   ///< programs before the first stamp
  int batch = 1;  ///< programs between the stamps
  Spacing spacing = Spacing::Barrier;
  std::size_t first_set = 0;      ///< the workspace of the first program; the others follow in turn
  AppendedWork* probe = nullptr;  ///< runs after the batch, timed separately; null: none

  friend bool operator==(const TimedRun&, const TimedRun&) = default;
};

struct Timing {
  /// Between the two timestamps; absent when the queue has no timestamps or they are distrusted.
  std::optional<double> gpu_ns;
  double wall_ns = 0;              ///< from submission to fence, by the CPU's clock
  std::optional<double> probe_ns;  ///< the clock probe's own time; absent without a probe or timestamps
};

/// Statistics that the driver reports about a program's compiled shaders: each is the maximum over the timed
/// dispatches; absent when the driver does not report it.
struct ExecutableStatistics {
  std::optional<std::int64_t> registers;  ///< per invocation
  /// Private memory per invocation, for values that found no register.
  std::optional<std::int64_t> spill_bytes;
  /// Per workgroup; what the program declares when the driver does not report it.
  std::optional<std::int64_t> shared_bytes;
};

/// What a program's shaders may do with one of its tensors.
enum class TensorAccess : std::uint8_t {
  Any,   ///< both: an output that is updated in place, or a tensor without a rule
  Read,  ///< an input: no instruction changes it
  Write  ///< an output: no instruction reads it, except by Program::free_access_because
};

/// What uninitialized variables of an invocation hold where Device::poisons_variables(). Which of two signs
/// `Usual` numbers have depends on the shader and its constants, so that neither a minimum nor a maximum is
/// right by chance everywhere; those of `Other` have the other one.
enum class Uninitialized : std::uint8_t { Usual, Other };

/// The pipelines of one program, ready to run and to be timed.
class Executable {
 public:
  /// Compiles shaders and creates pipelines for workspaces of `tensors`, whose forms decide each binding's
  /// descriptor type. Throws CompileError; Error where a shader and the program disagree
  /// (harness/gpu/program/interface_check.h); Unsupported; or an Error for what unsupported() should have
  /// refused before. `access` has one entry per tensor; empty: TensorAccess::Any for all.
  Executable(Device& device, ShaderLibrary& shaders, const Program& program,
             std::span<const Physical> tensors, std::uint32_t guard,
             std::span<const TensorAccess> access = {}, Uninitialized uninitialized = Uninitialized::Usual);
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;

  const Program& program() const;  ///< with external calls resolved
  double compile_ms() const;       ///< from GLSL to pipeline, all dispatches together
  std::string spirv_hash() const;  ///< over the SPIR-V of all dispatches, in order
  /// A shader that gets buffers with guards before their data and does not declare the constant by which its
  /// indices would skip them (guard_words); empty: there is none.
  const std::string& guardless_shader() const;
  /// Whether any of its shaders declares variables in workgroup memory.
  bool uses_workgroup_memory() const;
  /// The extension whose matrices its shaders multiply: "KHR", "NV"; empty: none do.
  const std::string& matrix_extension() const;

  /// What the driver failed to do for its pipelines at first, and did when asked again, as a sentence; empty:
  /// nothing.
  const std::string& driver_retry() const;

  /// Hash of everything that the device runs: SPIR-V, specialization constants, workgroups, push constants,
  /// roles and order of the dispatches, and what each binds, in which form and memory type, and which scratch
  /// shares memory. Rows with equal hashes run the same program.
  std::string program_hash(const Workspace& workspace) const;

  /// Compiles each timed dispatch once more when the driver reports statistics, so do not call it for every
  /// row.
  ExecutableStatistics statistics() const;

  /// Gives dispatch `index` other workgroups and push constants; the pipeline stays the same. Throws
  /// std::logic_error when the number of push constants changes or there is no such dispatch.
  void vary(std::size_t index, const std::array<std::uint32_t, 3>& workgroups, const PushConstants& push);

  /// Sets the name of setup, timed batches and stamped passes in debuggers and messages: the case's id.
  void set_label(std::string label);

  /// A change to memory in the middle of a run.
  struct Overwrite {
    std::size_t before = 0;  ///< a dispatch, setup included; their number: after the last one
    Resource resource;       ///< all its data, guards left out
    std::uint32_t word = 0;  ///< what it is filled with: of a texture, every lane of every texel
  };
  /// Runs everything once, setup dispatches included, and waits. `label` names the submission in debuggers.
  /// Throws Timeout, DeviceLost.
  void run(Workspace& workspace, std::string_view label, double timeout_s,
           std::span<const Overwrite> overwrites = {});

  /// Runs the setup dispatches only, and waits.
  void setup(Workspace& workspace, double timeout_s);
  /// Runs the setup dispatches, waits, and returns their time in ns: by the device's timestamps, else by the
  /// CPU's clock from submission to fence; 0 for a program without setup.
  double setup_ns(Workspace& workspace, double timeout_s);

  /// Records one TimedBatch and submits it once.
  Timing time(std::span<Workspace* const> workspaces, const TimedRun& run, double timeout_s);
  Timing time(Workspace& workspace, const TimedRun& run, double timeout_s);

  /// Time of each timed dispatch in ns, from one submission with a timestamp after each dispatch; empty
  /// without timestamps. A program runs before it, untimed, if `warms_up`.
  std::vector<double> dispatch_ns(Workspace& workspace, double timeout_s, bool warms_up = true);

  /// How one program is timed by itself.
  struct Isolated {
    /// The workspace that `warm` programs run over first, in the same submission.
    Workspace* before = nullptr;
    int warm = 1;
    /// Resources of `workspace` whose data are overwritten after the warm programs.
    std::span<const Resource> poisoned;
    std::uint32_t poison = 0;  ///< the word that overwrites them
  };
  /// Time in ns between two timestamps around one program over `workspace`; nothing without timestamps.
  std::optional<double> isolated_ns(Workspace& workspace, const Isolated& how, double timeout_s);

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Compiles the pipelines of an Executable with these arguments ahead of time, so that constructing it soon
/// after is fast. May be called from any thread and reports no phase. Throws as Executable does.
void prepare_executable(Device& device, ShaderLibrary& shaders, const Program& program,
                        std::span<const Physical> tensors, std::uint32_t guard,
                        std::span<const TensorAccess> access);

/// A timed submission, recorded once and submitted any number of times: run.warm programs, a timestamp,
/// run.batch programs, a timestamp, and, if there is a clock probe, the probe and a third timestamp. Setup
/// dispatches are left out. With several workspaces, each program uses the next one in turn.
class TimedBatch {
 public:
  /// All arguments must outlive this object. While it is in use, the executable must not run over other
  /// workspaces.
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

/// A kernel that always does the same work and hardly touches memory, so that its time shows the device's
/// clock: about 80 us at full clock, 200 us on a device of type "cpu".
class ClockProbe {
 public:
  /// Heats the device (until it no longer gets faster, at most 2 s) to choose the clock probe's length.
  ClockProbe(Device& device, ShaderLibrary& shaders);
  ~ClockProbe();
  ClockProbe(ClockProbe&&) noexcept;
  ClockProbe& operator=(ClockProbe&&) noexcept;

  /// Takes one reading in a submission of its own, after an untimed run of the clock probe: ns between the
  /// timestamps, or from submission to fence when the queue has no timestamps. Throws Timeout, DeviceLost.
  double time_ns(double timeout_s);

  /// Slows a program down on purpose: appends a dispatch of the clock probe's work that takes about `ns` at
  /// full clock, at least an empty dispatch.
  void burden(Program& program, double ns) const;

  /// One run of the clock probe, as TimedRun takes it. It lives as long as the clock probe.
  AppendedWork& work() const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Time between two timestamps of a queue in ns: masks the valid bits and handles a wrap of the counter.
double ticks_to_ns(std::uint64_t begin, std::uint64_t end, std::uint32_t valid_bits, double period_ns);

/// Measures the timestamps of the device's queue and compares them with the CPU's clock: about 0.3 s of work
/// on a warm device, up to 2 s more on an idle one. Throws Timeout, DeviceLost, CompileError. When the result
/// says that the timer is broken, the caller has to call device.distrust_timestamps().
TimerCalibration calibrate_timer(Device& device, ShaderLibrary& shaders);

}  // namespace assay::gpu
