#include "harness/gpu/spirv/module_declarations.h"

#include "harness/base/error.h"
#include "harness/gpu/spirv/spirv_instructions.h"
#include "harness/gpu/spirv/spirv_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace assay::gpu {
namespace {

constexpr std::uint32_t constant_bits = 32;
constexpr std::string_view what = "the specialization constants";

/// Facts about the results of instructions, by id.
struct Results {
  std::map<std::uint32_t, std::string> names;
  std::map<std::uint32_t, std::uint32_t> spec_ids;
  std::map<std::uint32_t, std::uint32_t> type_bits;       ///< of integer and float types
  std::map<std::uint32_t, std::uint32_t> constant_types;  ///< of constants; booleans have none here

  void read(const SpirvInstruction& instruction);
  void check_width(std::uint32_t result, std::uint32_t spec_id) const;
};

void Results::read(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  switch (instruction.opcode) {
    case spv::OpName:
      names[operands[0]] = instruction.text(1);
      break;
    case spv::OpDecorate:
      if (operands[1] == spv::DecorationSpecId) spec_ids[operands[0]] = operands[2];
      break;
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      type_bits[instruction.result] = operands[0];
      break;
    case spv::OpSpecConstant:
      constant_types[instruction.result] = instruction.type;
      break;
    default:
      break;
  }
}

void Results::check_width(std::uint32_t result, std::uint32_t spec_id) const {
  const auto type = constant_types.find(result);
  if (type == constant_types.end()) return;  // a boolean: 32 bits in Vulkan
  const auto bits = type_bits.find(type->second);
  if (bits == type_bits.end() || bits->second != constant_bits) {
    const auto name = names.find(result);
    throw Error(
        fmt::format("reading {} of a SPIR-V module: constant '{}' (constant_id {}) is not 32 bits wide", what,
                    name == names.end() ? "" : name->second, spec_id));
  }
}

constexpr std::string_view declarations_read = "the declarations";
constexpr std::string_view letters = "xyzw";
constexpr std::array<std::string_view, 3> local_sizes{"local_size_x", "local_size_y", "local_size_z"};

/// A part of a block, and how its members are reached.
struct Part {
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint32_t matrix_stride = 0;  ///< of the member that the part belongs to
  bool row_major = false;           ///< of the same
  std::string path, numbered;
};

std::string joined(const std::string& path, const std::string& member) {
  return path.empty() ? member : path + "." + member;
}

/// The numbers of one block, and how many of its parts were looked at, which may hold none.
struct Expansion {
  std::vector<BlockMember> members;
  std::size_t visits = 0;
};

/// Collects what a module declares, instruction by instruction.
class DeclarationReader {
 public:
  explicit DeclarationReader(const std::map<std::uint32_t, std::uint32_t>& specialization)
      : constants_(specialization) {}

  void read(const SpirvInstruction& instruction);
  ModuleDeclarations declarations() const;

 private:
  struct Variable {
    std::uint32_t id = 0, pointer = 0, storage_class = 0;
  };

  void read_names(const SpirvInstruction& instruction);
  const std::string& name_of(std::uint32_t id) const;
  std::optional<NumberType> number_type(std::uint32_t id) const;
  DeclaredVariable variable(const Variable& declared) const;
  bool asks_through_pointers() const;
  void expand(const Part& part, Expansion& to) const;
  void expand_struct(const Part& part, Expansion& to) const;
  void expand_elements(const Part& part, std::uint32_t element, std::uint64_t count, std::uint64_t stride,
                       Expansion& to) const;
  std::vector<BlockMember> members_of(std::uint32_t pointer) const;
  std::vector<SpecializationConstant> constants() const;
  std::map<std::uint32_t, std::string> names_of_sides() const;

  SpirvConstants constants_;
  SpirvTypes types_;
  SpirvDecorations decorations_;
  std::map<std::uint32_t, std::string> names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> member_names_;
  std::vector<Variable> variables_;
  std::map<std::uint32_t, std::uint32_t> constant_types_;  ///< by specialization constant
  std::vector<std::uint32_t> size_ids_;                    ///< of LocalSizeId
  std::set<std::uint32_t> asked_;  ///< pointers whose arrays are asked for their length
};

void DeclarationReader::read(const SpirvInstruction& instruction) {
  constants_.read(instruction);
  types_.read(instruction, constants_);
  decorations_.read(instruction);
  const auto& operands = instruction.operands;
  switch (instruction.opcode) {
    case spv::OpName:
    case spv::OpMemberName:
      read_names(instruction);
      break;
    case spv::OpExecutionModeId:
      if (operands[1] == spv::ExecutionModeLocalSizeId) size_ids_ = {operands.begin() + 2, operands.end()};
      break;
    case spv::OpSpecConstant:
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse:
      constant_types_[instruction.result] = instruction.type;
      break;
    case spv::OpVariable:
      variables_.push_back({instruction.result, instruction.type, operands[0]});
      break;
    case spv::OpArrayLength:
      asked_.insert(operands[0]);
      break;
    default:
      break;
  }
}

void DeclarationReader::read_names(const SpirvInstruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.opcode == spv::OpName) {
    names_[operands[0]] = instruction.text(1);
  } else {
    member_names_[{operands[0], operands[1]}] = instruction.text(2);
  }
}

const std::string& DeclarationReader::name_of(std::uint32_t id) const {
  static const std::string none;
  const auto found = names_.find(id);
  return found == names_.end() ? none : found->second;
}

std::optional<NumberType> DeclarationReader::number_type(std::uint32_t id) const {
  using Kind = NumberType::Kind;
  const SpirvType* type = types_.find(id);
  if (type == nullptr) return std::nullopt;
  if (type->opcode == spv::OpTypeBool) return NumberType{Kind::Boolean, 32};
  if (type->opcode == spv::OpTypeFloat) return NumberType{Kind::Float, type->operands[0]};
  if (type->opcode != spv::OpTypeInt) return std::nullopt;
  return NumberType{type->operands[1] != 0 ? Kind::Signed : Kind::Unsigned, type->operands[0]};
}

/// Adds the numbers of a part. What is no number, such as an array without a length, adds nothing.
void DeclarationReader::expand(const Part& part, Expansion& to) const {
  constexpr std::size_t most_visits = 4 * most_block_members;
  if (++to.visits > most_visits || to.members.size() > most_block_members) {
    throw Error(fmt::format("reading {} of a SPIR-V module: a block has more than {} members",
                            declarations_read, most_block_members));
  }
  if (const auto number = number_type(part.type)) {
    to.members.push_back({part.path, part.numbered, static_cast<std::uint32_t>(part.offset), *number});
    return;
  }
  const SpirvType* type = types_.find(part.type);
  if (type == nullptr) return;
  const SpirvType* element = type->operands.empty() ? nullptr : types_.find(type->operands[0]);
  if (type->opcode == spv::OpTypeStruct) {
    expand_struct(part, to);
  } else if (type->opcode == spv::OpTypeVector && element != nullptr) {
    expand_elements(part, type->operands[0], type->operands[1], element->bytes, to);
  } else if (type->opcode == spv::OpTypeMatrix) {
    if (part.row_major) {
      throw Error(
          fmt::format("reading {} of a SPIR-V module: '{}' is a row-major matrix, which no call can set yet",
                      declarations_read, part.path));
    }
    expand_elements(part, type->operands[0], type->operands[1], part.matrix_stride, to);
  } else if (type->opcode == spv::OpTypeArray) {
    const auto stride = decorations_.of(part.type).array_stride;
    const auto count = constants_.value(type->operands[1]);
    if (stride && count) expand_elements(part, type->operands[0], *count, *stride, to);
  }
}

void DeclarationReader::expand_struct(const Part& part, Expansion& to) const {
  const std::vector<std::uint32_t>& types = types_.find(part.type)->operands;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const SpirvDecoration said = decorations_.of_member(part.type, i);
    const auto name = member_names_.find({part.type, i});
    const bool is_named = name != member_names_.end() && !name->second.empty();
    expand({.type = types[i],
            .offset = part.offset + said.offset.value_or(0),
            .matrix_stride = said.matrix_stride.value_or(0),
            .row_major = said.row_major,
            .path = joined(part.path, is_named ? name->second : std::to_string(i)),
            .numbered = joined(part.numbered, std::to_string(i))},
           to);
  }
}

/// The elements of an array, the columns of a matrix or the components of a vector.
void DeclarationReader::expand_elements(const Part& part, std::uint32_t element, std::uint64_t count,
                                        std::uint64_t stride, Expansion& to) const {
  const bool is_vector = types_.find(part.type)->opcode == spv::OpTypeVector;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string index = fmt::format("[{}]", i);
    const bool has_letter = is_vector && i < letters.size();
    expand({.type = element,
            .offset = part.offset + i * stride,
            .matrix_stride = part.matrix_stride,
            .row_major = part.row_major,
            .path = part.path + (has_letter ? fmt::format(".{}", letters[i]) : index),
            .numbered = part.numbered + index},
           to);
  }
}

std::vector<BlockMember> DeclarationReader::members_of(std::uint32_t pointer) const {
  Expansion block;
  expand({.type = types_.pointee_id(pointer), .path = "", .numbered = ""}, block);
  return std::move(block.members);
}

/// Whether a length is asked for of a pointer that a function gets: any variable's.
bool DeclarationReader::asks_through_pointers() const {
  return std::ranges::any_of(asked_, [&](std::uint32_t id) {
    return std::ranges::find(variables_, id, &Variable::id) == variables_.end();
  });
}

DeclaredVariable DeclarationReader::variable(const Variable& declared) const {
  const SpirvDecoration said = decorations_.of(declared.id);
  DeclaredVariable made{.set = said.set.value_or(0),
                        .binding = said.binding.value_or(0),
                        .asks_length = asked_.contains(declared.id) || asks_through_pointers()};
  const std::uint32_t block = types_.pointee_id(declared.pointer);
  const SpirvType* type = types_.find(block);
  const bool is_block = type != nullptr && type->opcode == spv::OpTypeStruct;
  made.is_uniform =
      is_block && declared.storage_class == spv::StorageClassUniform && !decorations_.of(block).buffer_block;
  std::vector<std::string> names{name_of(declared.id), name_of(block)};
  const auto only = member_names_.find({block, 0});
  if (is_block && type->operands.size() == 1 && only != member_names_.end()) names.push_back(only->second);
  std::ranges::copy_if(names, std::back_inserter(made.names), [](const auto& name) { return !name.empty(); });
  if (made.is_uniform) made.members = members_of(declared.pointer);
  return made;
}

/// The names of constants that are a side of the workgroup, by their id in the module.
std::map<std::uint32_t, std::string> DeclarationReader::names_of_sides() const {
  std::vector<std::uint32_t> sides = size_ids_;
  if (const auto size = decorations_.built_in(spv::BuiltInWorkgroupSize)) sides = constants_.members(*size);
  std::map<std::uint32_t, std::string> names;
  for (std::size_t i = 0; i < std::min(sides.size(), local_sizes.size()); ++i)
    names.emplace(sides[i], local_sizes[i]);
  return names;
}

std::vector<SpecializationConstant> DeclarationReader::constants() const {
  const std::map<std::uint32_t, std::string> sides = names_of_sides();
  std::vector<SpecializationConstant> found;
  for (const auto& [result, type] : constant_types_) {
    const auto id = decorations_.of(result).spec_id;
    const auto number = number_type(type);
    if (!id || !number) continue;
    const auto side = sides.find(result);
    const std::string& name = name_of(result);
    found.push_back({*id, name.empty() && side != sides.end() ? side->second : name, *number});
  }
  std::ranges::sort(found, {}, &SpecializationConstant::id);
  return found;
}

ModuleDeclarations DeclarationReader::declarations() const {
  ModuleDeclarations made;
  for (const Variable& declared : variables_) {
    if (declared.storage_class == spv::StorageClassPushConstant) made.push = members_of(declared.pointer);
    if (decorations_.of(declared.id).binding) made.variables.push_back(variable(declared));
  }
  std::ranges::stable_sort(made.variables, {},
                           [](const DeclaredVariable& one) { return std::tuple(one.set, one.binding); });
  std::ranges::stable_sort(made.push, {}, &BlockMember::offset);
  made.constants = constants();
  return made;
}

}  // namespace

std::vector<DeclaredConstant> declared_constants(std::span<const std::uint32_t> words) {
  Results results;
  each_global_instruction(words, what,
                          [&](const SpirvInstruction& instruction) { results.read(instruction); });
  std::vector<DeclaredConstant> constants;
  for (const auto& [result, spec_id] : results.spec_ids) {
    results.check_width(result, spec_id);
    const auto name = results.names.find(result);
    constants.push_back({spec_id, name == results.names.end() ? "" : name->second});
  }
  std::ranges::sort(constants, {}, &DeclaredConstant::id);
  return constants;
}

std::string type_text(NumberType type) {
  static constexpr std::array<std::string_view, 4> names{"int", "uint", "float", "bool"};
  constexpr std::uint32_t usual_bits = 32;
  const std::string_view name = names.at(static_cast<std::size_t>(type.kind));
  return type.bits == usual_bits ? std::string(name) : fmt::format("{}{}", name, type.bits);
}

ModuleDeclarations declarations_of(std::span<const std::uint32_t> words,
                                   const std::map<std::uint32_t, std::uint32_t>& specialization) {
  DeclarationReader reader(specialization);
  each_instruction(words, declarations_read,
                   [&](const SpirvInstruction& instruction) { reader.read(instruction); });
  return reader.declarations();
}

}  // namespace assay::gpu
