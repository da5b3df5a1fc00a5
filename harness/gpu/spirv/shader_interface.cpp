#include "harness/gpu/spirv/shader_interface.h"

#include "harness/base/error.h"
#include "harness/gpu/spirv/spirv_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace assay::gpu {
namespace {

constexpr std::string_view interface_read = "the interface";

struct Variable {
  std::uint32_t id = 0;
  std::uint32_t pointer = 0;  ///< id of its pointer type
  std::uint32_t storage_class = 0;
};

/// The name of an image format by its SPIR-V number, if tensors have that format.
std::string format_name(std::uint32_t format) {
  switch (format) {
    case spv::ImageFormatRgba32f:
      return "rgba32f";
    case spv::ImageFormatRgba16f:
      return "rgba16f";
    case spv::ImageFormatRgba32i:
      return "rgba32i";
    case spv::ImageFormatRgba16i:
      return "rgba16i";
    case spv::ImageFormatRgba8i:
      return "rgba8i";
    case spv::ImageFormatRgba8ui:
      return "rgba8ui";
    default:
      return "";
  }
}

/// The number of dimensions of a plain image, 2 or 3; else 0.
std::uint32_t dimensions_of(const SpirvType& image) {
  const std::uint32_t dim = image.operands[1];
  const bool is_plain = image.operands[3] == 0 && image.operands[4] == 0;  // neither arrayed nor multisampled
  if (!is_plain) return 0;
  return dim == spv::Dim2D ? 2 : dim == spv::Dim3D ? 3 : 0;
}

class InterfaceReader {
 public:
  InterfaceReader(const std::map<std::uint32_t, std::uint32_t>& specialization, const SpirvAccess& access)
      : constants_(specialization), access_(access) {}

  void read(const SpirvInstruction& instruction);
  ShaderInterface interface() const;

 private:
  void read_global(const SpirvInstruction& instruction);
  void read_mode(const SpirvInstruction& instruction);
  std::unordered_set<std::uint32_t> used() const;
  std::string name_of(const Variable& variable) const;
  ShaderBinding binding_of(const Variable& variable) const;
  void describe_image(const SpirvType& image, ShaderBinding& binding) const;
  bool members_are_readonly(const Variable& variable) const;
  std::uint32_t push_bytes(const Variable& variable) const;
  std::uint64_t after(std::uint64_t offset, const Variable& shared) const;
  std::array<std::uint32_t, 3> local_size() const;

  SpirvConstants constants_;
  const SpirvAccess& access_;
  SpirvTypes types_;
  std::map<std::uint32_t, std::string> names_;
  SpirvDecorations decorations_;
  std::vector<Variable> variables_;  ///< the module's global variables; local ones do not matter
  std::optional<std::uint32_t> main_;
  std::vector<std::uint32_t> capabilities_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> modes_;  ///< local size by entry point: mode, operands
  std::uint32_t function_ = 0;                                 ///< the one being read; 0: none
  std::map<std::uint32_t, std::vector<std::uint32_t>> mentioned_;  ///< ids by function
};

void InterfaceReader::read(const SpirvInstruction& instruction) {
  constants_.read(instruction);
  types_.read(instruction, constants_);
  decorations_.read(instruction);
  if (instruction.opcode == spv::OpFunction) {
    function_ = instruction.result;
  } else if (instruction.opcode == spv::OpFunctionEnd) {
    function_ = 0;
  } else if (function_ != 0) {
    std::vector<std::uint32_t>& mentioned = mentioned_[function_];
    mentioned.insert(mentioned.end(), instruction.ids.begin(), instruction.ids.end());
  } else {
    read_global(instruction);
  }
}

void InterfaceReader::read_global(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  switch (instruction.opcode) {
    case spv::OpCapability:
      capabilities_.push_back(operands[0]);
      break;
    case spv::OpName:
      names_[operands[0]] = instruction.text(1);
      break;
    case spv::OpEntryPoint:
      if (operands[0] == spv::ExecutionModelGLCompute && instruction.text(2) == "main") main_ = operands[1];
      break;
    case spv::OpExecutionMode:
    case spv::OpExecutionModeId:
      read_mode(instruction);
      break;
    case spv::OpVariable:
      variables_.push_back({instruction.result, instruction.type, operands[0]});
      break;
    default:
      break;
  }
}

void InterfaceReader::read_mode(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  if (operands[1] == spv::ExecutionModeLocalSize || operands[1] == spv::ExecutionModeLocalSizeId) {
    modes_[operands[0]] = {operands.begin() + 1, operands.end()};
  }
}

/// All ids that main() or a function it calls mentions.
std::unordered_set<std::uint32_t> InterfaceReader::used() const {
  std::unordered_set<std::uint32_t> all;
  std::vector<std::uint32_t> functions{*main_};
  while (!functions.empty()) {
    const auto body = mentioned_.find(functions.back());
    functions.pop_back();
    if (body == mentioned_.end()) continue;
    for (const std::uint32_t id : body->second) {
      if (all.insert(id).second && mentioned_.contains(id)) functions.push_back(id);
    }
  }
  return all;
}

/// The name of a variable; for a block without an instance name the block's name.
std::string InterfaceReader::name_of(const Variable& variable) const {
  const auto own = names_.find(variable.id);
  if (own != names_.end() && !own->second.empty()) return own->second;
  const auto block = names_.find(types_.pointee_id(variable.pointer));
  return block == names_.end() ? "" : block->second;
}

/// Whether all members are read-only: glslang decorates the members of a `readonly buffer`, not the variable.
bool InterfaceReader::members_are_readonly(const Variable& variable) const {
  const std::uint32_t structure = types_.pointee_id(variable.pointer);
  const std::size_t members = types_.find(structure)->operands.size();
  for (std::uint32_t i = 0; i < members; ++i) {
    if (!decorations_.of_member(structure, i).non_writable) return false;
  }
  return members > 0;
}

void InterfaceReader::describe_image(const SpirvType& image, ShaderBinding& binding) const {
  if (image.opcode != spv::OpTypeImage) return;
  binding.dimensions = dimensions_of(image);
  binding.format = format_name(image.operands[6]);
  const SpirvType* texel = types_.find(image.operands[0]);
  if (texel == nullptr) return;
  if (texel->opcode == spv::OpTypeFloat) binding.texel = 'f';
  if (texel->opcode == spv::OpTypeInt) binding.texel = texel->operands[1] != 0 ? 'i' : 'u';
}

ShaderBinding InterfaceReader::binding_of(const Variable& variable) const {
  using Kind = ShaderBinding::Kind;
  constexpr std::uint32_t read_and_written = 2;  // the operand Sampled of an image type
  const SpirvDecoration said = decorations_.of(variable.id);
  ShaderBinding binding{.set = said.set.value_or(0),
                        .binding = said.binding.value_or(0),
                        .name = name_of(variable),
                        .readonly = said.non_writable,
                        .is_read = access_.is_read(variable.id),
                        .is_written = access_.is_written(variable.id),
                        .is_updated = access_.is_updated(variable.id)};
  const SpirvType* type = types_.pointee(variable.pointer);
  if (type == nullptr) return binding;
  const std::uint32_t type_id = types_.pointee_id(variable.pointer);
  const bool is_buffer =
      variable.storage_class == spv::StorageClassStorageBuffer || decorations_.of(type_id).buffer_block;
  if (is_buffer && type->opcode == spv::OpTypeStruct) {
    binding.kind = Kind::StorageBuffer;
    binding.readonly = binding.readonly || members_are_readonly(variable);
  } else if (variable.storage_class == spv::StorageClassUniform && type->opcode == spv::OpTypeStruct) {
    binding.kind = Kind::UniformBlock;
  } else if (type->opcode == spv::OpTypeImage && type->operands[5] == read_and_written) {
    binding.kind = Kind::StorageImage;
    describe_image(*type, binding);
  } else if (type->opcode == spv::OpTypeSampledImage) {
    binding.kind = Kind::SampledImage;
    binding.readonly = true;
    binding.is_written = binding.is_updated = false;  // nothing writes through a sampler
    if (const SpirvType* image = types_.find(type->operands[0])) describe_image(*image, binding);
  }
  return binding;
}

std::uint32_t InterfaceReader::push_bytes(const Variable& variable) const {
  const SpirvType* block = types_.pointee(variable.pointer);
  if (block == nullptr) return 0;
  const std::uint32_t structure = types_.pointee_id(variable.pointer);
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < block->operands.size(); ++i) {
    const SpirvType* member = types_.find(block->operands[i]);
    const std::uint64_t offset = decorations_.of_member(structure, i).offset.value_or(0);
    if (member != nullptr) end = std::max(end, offset + member->bytes);
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(end, std::numeric_limits<std::uint32_t>::max()));
}

/// The end of a shared variable that is placed after `offset`.
std::uint64_t InterfaceReader::after(std::uint64_t offset, const Variable& shared) const {
  const SpirvType* type = types_.pointee(shared.pointer);
  if (type == nullptr || !type->has_size) {
    throw Error(
        fmt::format("reading {} of a SPIR-V module: the size of the shared variable '{}' cannot be "
                    "computed from its constants: make it of integers",
                    interface_read, name_of(shared)));
  }
  return (offset + type->alignment - 1) / type->alignment * type->alignment + type->bytes;
}

/// The workgroup size. The built-in constant WorkgroupSize, if there is one, overrides the execution mode.
std::array<std::uint32_t, 3> InterfaceReader::local_size() const {
  std::vector<std::optional<std::uint32_t>> sides;
  if (const auto constant = decorations_.built_in(spv::BuiltInWorkgroupSize)) {
    for (const std::uint32_t member : constants_.members(*constant))
      sides.push_back(constants_.value(member));
  }
  const auto mode = modes_.find(*main_);
  if (sides.empty() && mode != modes_.end()) {
    for (const std::uint32_t side : std::span(mode->second).subspan(1)) {
      sides.push_back(mode->second[0] == spv::ExecutionModeLocalSize ? side : constants_.value(side));
    }
  }
  std::array<std::uint32_t, 3> size{1, 1, 1};
  for (std::size_t i = 0; i < size.size() && i < sides.size(); ++i) size[i] = sides[i].value_or(1);
  return size;
}

ShaderInterface InterfaceReader::interface() const {
  if (!main_) {
    throw Error(
        fmt::format("reading {} of a SPIR-V module: it has no compute shader 'main'", interface_read));
  }
  ShaderInterface found{.local_size = local_size(), .capabilities = capabilities_};
  const std::unordered_set<std::uint32_t> used_ids = used();
  for (const Variable& variable : variables_) {
    const bool is_used = used_ids.contains(variable.id);
    if (variable.storage_class == spv::StorageClassPushConstant) {
      found.push_bytes = std::max(found.push_bytes, push_bytes(variable));
      found.uses_push = found.uses_push || is_used;
    } else if (variable.storage_class == spv::StorageClassWorkgroup && is_used) {
      found.shared_bytes = after(found.shared_bytes, variable);
    } else if (is_used && decorations_.of(variable.id).binding) {
      found.bindings.push_back(binding_of(variable));
    }
  }
  std::ranges::sort(found.bindings, {},
                    [](const ShaderBinding& one) { return std::tuple(one.set, one.binding); });
  return found;
}

}  // namespace

ShaderInterface interface_of(std::span<const std::uint32_t> words,
                             const std::map<std::uint32_t, std::uint32_t>& specialization) {
  return interface_of(SpirvOutline(words, interface_read), specialization);
}

ShaderInterface interface_of(const SpirvOutline& module,
                             const std::map<std::uint32_t, std::uint32_t>& specialization) {
  InterfaceReader reader(specialization, module.access());
  module.each([&](const SpirvInstruction& instruction) { reader.read(instruction); });
  return reader.interface();
}

}  // namespace assay::gpu
