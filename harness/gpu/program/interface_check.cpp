#include "harness/gpu/program/interface_check.h"

#include "harness/gpu/device/limits.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace assay::gpu {
namespace {

using Need = std::optional<std::string>;
using Kind = ShaderBinding::Kind;

/// A feature that a device must have for a capability.
struct NeededFeature {
  std::uint32_t capability = 0;
  Feature feature = Feature::Int8;
};

constexpr std::array needed_features{
    NeededFeature{spv::CapabilityInt8, Feature::Int8},
    NeededFeature{spv::CapabilityInt16, Feature::Int16},
    NeededFeature{spv::CapabilityInt64, Feature::Int64},
    NeededFeature{spv::CapabilityFloat16, Feature::Float16},
    NeededFeature{spv::CapabilityStorageBuffer8BitAccess, Feature::Storage8},
    NeededFeature{spv::CapabilityUniformAndStorageBuffer8BitAccess, Feature::Storage8},
    NeededFeature{spv::CapabilityStorageBuffer16BitAccess, Feature::Storage16},
    NeededFeature{spv::CapabilityStorageUniform16, Feature::Storage16},
    NeededFeature{spv::CapabilityGroupNonUniformArithmetic, Feature::SubgroupArithmetic},
    NeededFeature{spv::CapabilityGroupNonUniformShuffle, Feature::SubgroupShuffle},
    NeededFeature{capability_dot_product_input_all, Feature::DotProduct},
    NeededFeature{capability_dot_product, Feature::DotProduct},
    NeededFeature{spv::CapabilityCooperativeMatrixNV, Feature::CooperativeMatrixNv},
    NeededFeature{capability_cooperative_matrix_khr, Feature::CooperativeMatrixKhr},
};

/// Capabilities whose features assay enables on no device.
constexpr std::array never_enabled{spv::CapabilityStorageImageExtendedFormats,
                                   spv::CapabilityStorageImageReadWithoutFormat,
                                   spv::CapabilityStorageImageWriteWithoutFormat,
                                   spv::CapabilitySubgroupBallotKHR,
                                   spv::CapabilitySubgroupVoteKHR,
                                   spv::CapabilityFloat64,
                                   spv::CapabilityInt64Atomics,
                                   spv::CapabilityStoragePushConstant16,
                                   spv::CapabilityStoragePushConstant8};

/// The minor version of a module; the major one is 1.
std::uint32_t spirv_version(std::span<const std::uint32_t> words) {
  constexpr std::uint32_t minor_shift = 8;
  return words[1] >> minor_shift & 0xFFU;
}

/// The latest minor version of SPIR-V that a device of that version of Vulkan ("1.3.2") must take.
std::uint32_t spirv_version_of(std::string_view vulkan) {
  if (vulkan.starts_with("1.1")) return 3;
  return vulkan.starts_with("1.2") ? 5 : 6;
}

Need unmet_capability(const ShaderInterface& interface, const DeviceInfo& device) {
  for (const std::uint32_t capability : interface.capabilities) {
    const auto needed = std::ranges::find(needed_features, capability, &NeededFeature::capability);
    if (needed != needed_features.end() && !device.has(needed->feature))
      return fmt::format("{}, which is missing", name_of(needed->feature));
    if (std::ranges::find(never_enabled, capability) != never_enabled.end()) {
      return fmt::format("the SPIR-V capability {}, whose feature assay does not enable",
                         capability_name(capability));
    }
  }
  return std::nullopt;
}

Need unmet_size(const ShaderInterface& interface, const DeviceInfo& device) {
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < interface.local_size.size(); ++i) {
    invocations *= interface.local_size[i];
    if (interface.local_size[i] > device.max_workgroup_size[i]) {
      return fmt::format("{} invocations in one dimension of a workgroup, maxComputeWorkGroupSize[{}] is {}",
                         interface.local_size[i], i, device.max_workgroup_size[i]);
    }
  }
  if (invocations > device.max_workgroup_invocations) {
    return fmt::format("{} invocations in a workgroup, maxComputeWorkGroupInvocations is {}", invocations,
                       device.max_workgroup_invocations);
  }
  if (interface.push_bytes > device.max_push_constant_bytes) {
    return fmt::format("{} bytes of push constants, maxPushConstantsSize is {}", interface.push_bytes,
                       device.max_push_constant_bytes);
  }
  return std::nullopt;
}

std::string_view kind_text(Kind kind) {
  switch (kind) {
    case Kind::StorageBuffer:
      return "a storage buffer";
    case Kind::StorageImage:
      return "a storage image";
    case Kind::SampledImage:
      return "a texture with its sampler";
    case Kind::UniformBlock:
      return "a uniform block";
    case Kind::Other:
      return "neither a storage buffer nor an image nor a texture with its sampler";
  }
  return "";
}

std::string place_text(const ShaderBinding& used) {
  const std::string name = used.name.empty() ? "" : fmt::format(" ('{}')", used.name);
  return fmt::format("set {}, binding {}{}", used.set, used.binding, name);
}

/// Compares one dispatch with its shader.
class DispatchCheck {
 public:
  DispatchCheck(const Program& program, std::span<const Physical> tensors, const Dispatch& dispatch,
                const ShaderInterface& shader)
      : program_(program), tensors_(tensors), dispatch_(dispatch), shader_(shader) {}

  void check() const {
    check_capabilities();
    for (const ShaderBinding& used : shader_.bindings) check_binding(used);
    check_push();
    check_sizes();
  }

  [[noreturn]] void refuse(const std::string& what) const {
    std::string variant;
    for (const Define& define : dispatch_.defines)
      variant += fmt::format("{}{} {}", variant.empty() ? " with " : ", ", define.name, define.value);
    throw Error(fmt::format("checking the shader {}{} against dispatch '{}': {}", dispatch_.shader, variant,
                            dispatch_.label, what));
  }

  /// Calls `visit` with each variable of the shader and the resource that it is bound to. Several variables
  /// may share a binding.
  template <class Visit>
  void each_use(const Visit& visit) const {
    for (const ShaderBinding& used : shader_.bindings) {
      if (!is_uniform_block(used)) visit(dispatch_.bindings[used.binding].resource, used);
    }
  }

  const Dispatch& dispatch() const { return dispatch_; }

 private:
  /// Whether resolved_call() has given it a uniform block, which lie after what the dispatch binds.
  bool is_uniform_block(const ShaderBinding& used) const {
    return dispatch_.external && used.kind == Kind::UniformBlock;
  }

  void check_binding(const ShaderBinding& used) const {
    if (is_uniform_block(used)) return;
    if (used.set != 0) {
      refuse(fmt::format("the shader uses {}, and programs bind set 0 alone: declare it with set = 0",
                         place_text(used)));
    }
    if (used.binding >= dispatch_.bindings.size()) {
      refuse(
          fmt::format("the shader uses {}, and the dispatch binds {} resources, from 0 on: let the op bind "
                      "it, or remove it from the shader",
                      place_text(used), dispatch_.bindings.size()));
    }
    const Binding& given = dispatch_.bindings[used.binding];
    const Form form = form_of(program_, tensors_, given.resource);
    const Kind kind = given.is_sampled() ? Kind::SampledImage
                      : is_texture(form) ? Kind::StorageImage
                                         : Kind::StorageBuffer;
    if (used.kind != kind) {
      refuse(
          fmt::format("the shader declares {} as {}, and the dispatch binds {} ({}) there as {}: the form "
                      "decides between buffer and image, the op between image and sampler",
                      place_text(used), kind_text(used.kind), resource_text(given.resource), to_string(form),
                      kind_text(kind)));
    }
    if (kind != Kind::StorageBuffer) check_texels(used, given.resource, form);
  }

  void check_texels(const ShaderBinding& used, Resource resource, Form form) const {
    const std::uint32_t dimensions = form.storage == Storage::Texture3D ? 3 : 2;
    if (used.dimensions != dimensions) {
      refuse(
          fmt::format("the shader declares {} as {}, and the dispatch binds {} there, a texture of {} "
                      "dimensions",
                      place_text(used),
                      used.dimensions == 0 ? "no plain image of 2 or 3 dimensions"
                                           : fmt::format("an image of {} dimensions", used.dimensions),
                      resource_text(resource), dimensions));
    }
    const std::string_view texels = texel_name(dtype_of(program_, tensors_, resource));
    const bool has_format = used.kind == Kind::StorageImage && !used.format.empty();
    if ((has_format && used.format != texels) || used.texel != texel_of(texels)) {
      refuse(fmt::format(
          "the shader declares {} with texels of {}, and the dispatch binds {} there, whose texels "
          "are {}",
          place_text(used), has_format ? used.format : fmt::format("kind '{}'", used.texel),
          resource_text(resource), texels));
    }
  }

  /// 'f', 'i' or 'u' of "rgba32f", "rgba8i", "rgba8ui".
  static char texel_of(std::string_view texels) {
    if (texels.ends_with("ui")) return 'u';
    return texels.back();
  }

  std::string resource_text(Resource resource) const {
    if (resource.kind == Resource::Kind::Tensor) return fmt::format("tensor {}", resource.index);
    return fmt::format("scratch '{}'", program_.scratch[resource.index].name);
  }

  void check_capabilities() const {
    const std::string refused = refused_capability(shader_.capabilities);
    if (refused.empty()) return;
    refuse(
        fmt::format("the shader uses the SPIR-V capability {}: kernels may only compute from what is bound "
                    "to them, and may read neither clocks nor other memory",
                    refused));
  }

  void check_push() const {
    constexpr std::size_t word = sizeof(std::uint32_t);
    const std::size_t pushed = dispatch_.push.words().size() * word;
    const std::size_t declared = (shader_.push_bytes + word - 1) / word * word;
    const bool is_idle = pushed == 0 && !shader_.uses_push;  // declared, but neither used nor pushed
    if (pushed == declared || is_idle) return;
    refuse(
        fmt::format("the shader declares {} bytes of push constants, and the dispatch pushes {}: the op must "
                    "push exactly the members of the shader's block, in their order",
                    shader_.push_bytes, pushed));
  }

  void check_sizes() const {
    if (shader_.local_size != dispatch_.local_size) {
      refuse(
          fmt::format("the shader's workgroups are of {} invocations, and the dispatch says {}: declare them "
                      "with local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2, or let the op say "
                      "the same",
                      fmt::join(shader_.local_size, " x "), fmt::join(dispatch_.local_size, " x ")));
    }
    if (dispatch_.shared_bytes != 0 && dispatch_.shared_bytes < shader_.shared_bytes) {
      refuse(
          fmt::format("the shader has {} bytes of shared memory, and the dispatch says {}: the device's "
                      "limit is compared with the stated size",
                      shader_.shared_bytes, dispatch_.shared_bytes));
    }
  }

  const Program& program_;
  std::span<const Physical> tensors_;
  const Dispatch& dispatch_;
  const ShaderInterface& shader_;
};

/// Ensures that a program cannot use results of an earlier run. It may find only the unchanged inputs, and in
/// other memory only what set-up or the program itself has written. So no scratch may be read or updated
/// before it is written, or written after it was read: whatever is left there was written without knowledge
/// of an earlier run. The same holds for outputs that an impl's program says it reads; others may be updated
/// by atomics whose results nobody sees, because knowledge that never leaves them is of no use. A dispatch
/// may read scratch that it writes itself where it does so after all that it does with its inputs.
class AccessCheck {
 public:
  AccessCheck(const Program& program, std::span<const TensorAccess> access, const LateUseOf& late_use)
      : program_(program), access_(access), late_use_(late_use) {}

  /// Checks dispatch `index`; call it with all dispatches, in order.
  void check(const DispatchCheck& one, std::size_t index) {
    if (access_.empty() || !program_.unchecked_because.empty()) return;
    const bool is_timed = one.dispatch().role != DispatchRole::Setup;
    if (is_timed) check_joined(one, index);
    one.each_use(
        [&](Resource resource, const ShaderBinding& used) { check_reads(one, resource, used, is_timed); });
    one.each_use([&](Resource resource, const ShaderBinding& used) {
      if (!used.is_written) return;
      check_write(one, resource, used, is_timed);
      if (used.is_updated && !written_.contains(resource)) updated_.insert(resource);
    });
    one.each_use([&](Resource resource, const ShaderBinding& used) {
      if (used.is_written) written_.insert(resource);
    });
  }

 private:
  struct Order {
    bool operator()(Resource a, Resource b) const {
      return std::tuple(a.kind, a.index) < std::tuple(b.kind, b.index);
    }
  };

  static bool is_tensor(Resource resource) { return resource.kind == Resource::Kind::Tensor; }

  TensorAccess allowed(Resource tensor) const {
    return tensor.index < access_.size() ? access_[tensor.index] : TensorAccess::Any;
  }

  /// The scratch that it reads although nothing before has written it: by its resource, a use that reads.
  std::map<Resource, const ShaderBinding*, Order> joined_by(const DispatchCheck& one) const {
    std::map<Resource, const ShaderBinding*, Order> found;
    one.each_use([&](Resource resource, const ShaderBinding& used) {
      const bool reads = used.is_read || used.is_updated;
      if (reads && !is_tensor(resource) && !written_.contains(resource)) found.try_emplace(resource, &used);
    });
    return found;
  }

  static bool writes(const DispatchCheck& one, Resource scratch) {
    bool found = false;
    one.each_use([&](Resource resource, const ShaderBinding& used) {
      found = found || (resource == scratch && used.is_written);
    });
    return found;
  }

  void check_joined(const DispatchCheck& one, std::size_t index) {
    joined_ = joined_by(one);
    if (joined_.empty()) return;
    for (const auto& [scratch, used] : joined_) {
      if (!writes(one, scratch)) refuse_scratch_read(one, *used, {});
      check_is_own(one, index, scratch, *used);
    }
    if (std::ranges::none_of(joined_, [&](const auto& entry) { return is_counter(entry.first); })) {
      refuse_scratch_read(one, *joined_.begin()->second,
                          {"counts in no scratch that is zero between runs", {}});
    }
    if (const auto use = late_use_of(one, index)) refuse_scratch_read(one, *joined_.begin()->second, *use);
    one.each_use([&](Resource resource, const ShaderBinding& used) {
      if (used.is_written && !joined_.contains(resource))
        made_by_joining_.try_emplace(resource, one.dispatch().label);
    });
  }

  bool is_counter(Resource scratch) const { return program_.scratch[scratch.index].is_zero_between_runs; }

  /// The late use of inputs of a dispatch that joins.
  std::optional<LateUse> late_use_of(const DispatchCheck& one, std::size_t index) const {
    if (!late_use_) return LateUse{};
    KeptBindings kept;
    one.each_use([&](Resource resource, const ShaderBinding& used) {
      if (!joined_.contains(resource)) return;
      kept.all.insert(used.binding);
      if (is_counter(resource)) kept.counters.insert(used.binding);
    });
    return late_use_(index, kept);
  }

  /// No other dispatch may bind it, in whatever memory.
  void check_is_own(const DispatchCheck& one, std::size_t index, Resource scratch,
                    const ShaderBinding& used) const {
    for (std::size_t i = 0; i < program_.dispatches.size(); ++i) {
      const Dispatch& other = program_.dispatches[i];
      const auto binds = [&](const Binding& binding) {
        return shares_memory(binding.resource, scratch) && (i != index || binding.resource != scratch);
      };
      if (std::ranges::none_of(other.bindings, binds)) continue;
      refuse_scratch_read(one, used, {fmt::format("dispatch '{}' uses its memory, too", other.label), {}});
    }
    if (used.kind != Kind::StorageBuffer) refuse_scratch_read(one, used, {"it is no buffer", {}});
  }

  bool shares_memory(Resource a, Resource b) const {
    if (is_tensor(a) || is_tensor(b)) return false;
    const auto memory = [&](Resource one) {
      return program_.scratch[one.index].in_memory_of.value_or(one.index);
    };
    return memory(a) == memory(b);
  }

  void check_reads(const DispatchCheck& one, Resource resource, const ShaderBinding& used, bool is_timed) {
    if (is_timed && joined_.contains(resource)) return;
    const auto maker = made_by_joining_.find(resource);
    if (maker != made_by_joining_.end() && (used.is_read || used.is_updated)) {
      one.refuse(fmt::format(
          "the shader reads {}, where the {} is bound, which dispatch '{}' has written after it had read "
          "scratch that it writes itself: only what leaves the program may be made so. Let that op join its "
          "parts in a dispatch of their own",
          place_text(used), name_of(resource), maker->second));
    }
    if (!is_tensor(resource)) {
      if (is_timed && (used.is_read || used.is_updated)) check_scratch_read(one, resource, used);
    } else if (allowed(resource) == TensorAccess::Write && used.is_read) {
      check_output_read(one, resource, used);
    }
  }

  void check_output_read(const DispatchCheck& one, Resource output, const ShaderBinding& used) {
    const bool is_own = written_.contains(output) && !updated_.contains(output);
    if (!program_.free_access_because.empty() && is_own) {
      read_.try_emplace(output, one.dispatch().label);
      return;
    }
    one.refuse(fmt::format(
        "the shader reads {}, where tensor {} is bound, an output: what the program before left there could "
        "spare it the work. Only write it; or write it in an earlier dispatch, without atomics, and let the "
        "impl's program say why it must read it (free_access_because)",
        place_text(used), output.index));
  }

  void check_scratch_read(const DispatchCheck& one, Resource scratch, const ShaderBinding& used) {
    if (used.is_read) read_.try_emplace(scratch, one.dispatch().label);
    if (!written_.contains(scratch)) refuse_scratch_read(one, used, {});
  }

  [[noreturn]] void refuse_scratch_read(const DispatchCheck& one, const ShaderBinding& used,
                                        const LateUse& because) const {
    const Resource scratch = one.dispatch().bindings[used.binding].resource;
    std::string and_then = because.what.empty() ? "" : ", and then " + because.what;
    if (because.binding) {
      and_then = ", and then reads an input";
      one.each_use([&](Resource, const ShaderBinding& input) {
        if (input.binding == *because.binding) and_then = ", and then reads " + place_text(input);
      });
    }
    one.refuse(fmt::format(
        "the shader {} {}, where the scratch '{}' is bound, which no dispatch before it writes{}: what the "
        "program before left there could spare it the work. Write it in an earlier dispatch, or read it only "
        "after all that is done with inputs",
        used.is_read ? "reads" : "updates by atomics", place_text(used), program_.scratch[scratch.index].name,
        and_then));
  }

  void check_write(const DispatchCheck& one, Resource resource, const ShaderBinding& used,
                   bool is_timed) const {
    if (is_tensor(resource) && allowed(resource) == TensorAccess::Read) {
      one.refuse(
          fmt::format("the shader writes {}, where tensor {} is bound, an input: what it leaves there the "
                      "next program finds",
                      place_text(used), resource.index));
    }
    const auto reader = read_.find(resource);
    if (is_timed && joined_.contains(resource)) return;
    if (!is_timed || reader == read_.end()) return;
    one.refuse(fmt::format(
        "the shader writes {}, where the {} is bound, which dispatch '{}' reads: the next program would find "
        "there what this one leaves, and could spare itself the work. Give the dispatch a scratch of its own",
        place_text(used), name_of(resource), reader->second));
  }

  std::string name_of(Resource resource) const {
    return is_tensor(resource) ? fmt::format("output {}", resource.index)
                               : fmt::format("scratch '{}'", program_.scratch[resource.index].name);
  }

  const Program& program_;
  std::span<const TensorAccess> access_;
  const LateUseOf& late_use_;
  std::map<Resource, const ShaderBinding*, Order> joined_;  ///< of the dispatch that is being checked
  std::map<Resource, std::string, Order> made_by_joining_;  ///< and by which dispatch
  std::set<Resource, Order> written_;                       ///< what was written so far
  std::set<Resource, Order> updated_;            ///< what was updated before anything had written it
  std::map<Resource, std::string, Order> read_;  ///< what was read, and the first dispatch that reads it
};

/// Ensures that scratch which set-up writes stays as constant as weights: later dispatches only read it.
/// Set-up itself may read only scratch that it wrote, because nothing else runs before it.
class SetupCheck {
 public:
  explicit SetupCheck(const Program& program) : program_(program) {}

  void check(const DispatchCheck& one) {
    one.each_use([&](Resource resource, const ShaderBinding& used) {
      if (resource.kind != Resource::Kind::Scratch) return;
      if (one.dispatch().role == DispatchRole::Setup) {
        check_setup(one, resource.index, used);
      } else {
        check_later(one, resource.index, used);
      }
    });
  }

 private:
  void check_setup(const DispatchCheck& one, std::uint32_t scratch, const ShaderBinding& used) {
    const bool is_read = used.readonly || used.is_read || used.is_updated;
    if (is_read && !written_.contains(scratch)) {
      one.refuse(
          fmt::format("it is set-up and reads the scratch '{}' at {}, which no setup dispatch before it "
                      "writes",
                      program_.scratch[scratch].name, place_text(used)));
    }
    if (!used.readonly) written_.insert(scratch);
  }

  void check_later(const DispatchCheck& one, std::uint32_t scratch, const ShaderBinding& used) const {
    const bool only_reads = used.readonly && !used.is_written;
    if (only_reads || !written_.contains(scratch)) return;
    one.refuse(
        fmt::format("the shader may write {}, where the scratch '{}' is bound, which set-up wrote: set-up is "
                    "done once and not timed, so that all that follows must leave it alone. Declare it "
                    "readonly, or give the dispatch a scratch of its own",
                    place_text(used), program_.scratch[scratch].name));
  }

  const Program& program_;
  std::set<std::uint32_t> written_;
};

void refuse_beyond_device(const Dispatch& dispatch, const ShaderInterface& shader, const DeviceInfo& device) {
  if (shader.shared_bytes <= device.max_shared_bytes) return;
  throw Unsupported(
      fmt::format("dispatch '{}' needs {} bytes of shared memory, maxComputeSharedMemorySize is {}",
                  dispatch.label, shader.shared_bytes, device.max_shared_bytes));
}

}  // namespace

std::optional<std::string> unmet_need(std::span<const std::uint32_t> words, const ShaderInterface& interface,
                                      const DeviceInfo& device) {
  if (const Need need = unmet_capability(interface, device)) return need;
  const std::uint32_t version = spirv_version(words), latest = spirv_version_of(device.api_version);
  if (version > latest) {
    return fmt::format("SPIR-V 1.{}, and Vulkan {} takes at most 1.{}", version, device.api_version, latest);
  }
  return unmet_size(interface, device);
}

void check_interfaces(const Program& program, std::span<const Physical> tensors,
                      std::span<const ShaderInterface> interfaces, const DeviceInfo& device,
                      std::span<const TensorAccess> access, const LateUseOf& late_use) {
  SetupCheck setup(program);
  AccessCheck accesses(program, access, late_use);
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    const DispatchCheck one(program, tensors, program.dispatches[i], interfaces[i]);
    one.check();
    setup.check(one);
    accesses.check(one, i);
  }
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    refuse_beyond_device(program.dispatches[i], interfaces[i], device);
  }
}

}  // namespace assay::gpu
