#include "harness/gpu/spirv/khr_matrices.h"

#include "harness/base/error.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <fmt/format.h>
#include <glslang/SPIRV/doc.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::gpu {
namespace {

using Ids = std::vector<std::uint32_t>;

/// An instruction that stays valid.
struct Instruction {
  std::uint16_t opcode = 0;
  std::uint32_t type = 0, result = 0;
  std::span<const std::uint32_t> operands;
  Ids ids;
};

constexpr std::size_t bound_at = 3;  ///< the header's word that is larger than every id

[[noreturn]] void refuse(const Instruction& instruction, const std::string& why) {
  throw Error(fmt::format("rewriting cooperative matrices from NV to KHR: {}{}: {}",
                          spv::OpcodeString(instruction.opcode),
                          instruction.result == 0 ? "" : fmt::format(" %{}", instruction.result), why));
}

/// Sets of ids that have one use, by union and find.
class UseClasses {
 public:
  std::uint32_t root(std::uint32_t id) {
    while (true) {
      std::uint32_t& parent = parents_.try_emplace(id, id).first->second;
      if (parent == id) return id;
      parent = parents_.try_emplace(parent, parent).first->second;  // halves the way for the next time
      id = parent;
    }
  }

  void join(std::uint32_t a, std::uint32_t b, const Instruction& by) {
    const std::uint32_t of_a = root(a), of_b = root(b);
    if (of_a == of_b) return;
    parents_[of_b] = of_a;
    if (const auto use = uses_.find(of_b); use != uses_.end()) {
      const MatrixUse moved = use->second;
      uses_.erase(use);
      require(a, moved, by);
    }
  }

  void require(std::uint32_t id, MatrixUse use, const Instruction& by) {
    const auto [known, is_new] = uses_.emplace(root(id), use);
    if (!is_new && known->second != use)
      refuse(by, fmt::format("%{} is used as {} and as {} of products", id, word(known->second), word(use)));
  }

  MatrixUse use(std::uint32_t id) {
    const auto known = uses_.find(root(id));
    return known == uses_.end() ? MatrixUse::Accumulator : known->second;
  }

 private:
  static const char* word(MatrixUse use) {
    constexpr std::array words{"A", "B", "accumulator"};
    return words.at(static_cast<std::size_t>(use));
  }

  std::map<std::uint32_t, std::uint32_t> parents_;
  std::map<std::uint32_t, MatrixUse> uses_;  ///< of roots
};

/// Reads a module: which types have matrices in them, and what each value of such a type is used for.
class MatrixFlow {
 public:
  explicit MatrixFlow(std::span<const std::uint32_t> words) {
    each_instruction(words, "the matrices", [&](const SpirvInstruction& one) {
      code_.push_back({one.opcode, one.type, one.result, one.operands, {one.ids.begin(), one.ids.end()}});
    });
    for (const Instruction& one : code_) read_type(one);
    for (const Instruction& one : code_) follow(one);
    for (const auto& [id, type] : values_) uses_[matrix_in(type)].insert(classes_.use(id));
  }

  const std::vector<Instruction>& code() const { return code_; }
  bool has_matrices() const { return !components_.empty(); }
  /// The matrix type in a type: itself, or of an array or a pointer; 0: there is none.
  std::uint32_t matrix_in(std::uint32_t type) const {
    const auto found = matrix_in_.find(type);
    return found == matrix_in_.end() ? 0 : found->second;
  }
  bool holds_matrix(std::uint32_t id) const { return values_.contains(id); }
  std::uint32_t type_of(std::uint32_t id) const { return values_.at(id); }
  MatrixUse use(std::uint32_t id) { return classes_.use(id); }
  /// The uses of values of a matrix type; the accumulator's if it has no value.
  std::set<MatrixUse> uses(std::uint32_t matrix_type) const {
    const auto found = uses_.find(matrix_type);
    return found == uses_.end() ? std::set{MatrixUse::Accumulator} : found->second;
  }
  bool has_signed_components(std::uint32_t id) const {
    return signed_.contains(components_.at(matrix_in(type_of(id))));
  }
  /// The layout that an id of a boolean constant stands for; nothing for another id.
  std::optional<MatrixLayout> layout(std::uint32_t is_column_major) const {
    const auto found = booleans_.find(is_column_major);
    if (found == booleans_.end()) return std::nullopt;
    return found->second ? MatrixLayout::ColumnMajor : MatrixLayout::RowMajor;
  }

 private:
  void read_type(const Instruction& one);
  void follow(const Instruction& one);
  void follow_value(const Instruction& one);
  void follow_call(const Instruction& one);
  void join_all(const Instruction& one, std::span<const std::uint32_t> ids);
  void join_matrices(const Instruction& one);

  std::vector<Instruction> code_;
  std::map<std::uint32_t, std::uint32_t> matrix_in_;
  std::map<std::uint32_t, std::uint32_t> components_;  ///< by matrix type: the component's type
  std::set<std::uint32_t> signed_;                     ///< types of signed integers
  std::map<std::uint32_t, bool> booleans_;
  std::map<std::uint32_t, std::uint32_t>
      values_;                               ///< those with matrices in them, and functions that return one
  std::map<std::uint32_t, Ids> parameters_;  ///< of each function
  std::uint32_t function_ = 0;               ///< in which the instruction is
  UseClasses classes_;
  std::map<std::uint32_t, std::set<MatrixUse>> uses_;
};

void MatrixFlow::read_type(const Instruction& one) {
  switch (one.opcode) {
    case spv::OpTypeInt:
      if (one.operands[1] != 0) signed_.insert(one.result);
      break;
    case spv::OpTypeCooperativeMatrixNV:
      components_[one.result] = one.operands[0];
      matrix_in_[one.result] = one.result;
      break;
    case spv::OpTypeArray:
      if (matrix_in(one.operands[0]) != 0) matrix_in_[one.result] = matrix_in(one.operands[0]);
      break;
    case spv::OpTypePointer:
      if (matrix_in(one.operands[1]) != 0) matrix_in_[one.result] = matrix_in(one.operands[1]);
      break;
    case spv::OpTypeStruct:
    case spv::OpTypeRuntimeArray:
      if (std::ranges::any_of(one.operands, [&](std::uint32_t type) { return matrix_in(type) != 0; }))
        refuse(one, "a matrix in a structure or an unsized array");
      break;
    case spv::OpConstantTrue:
    case spv::OpConstantFalse:
      booleans_[one.result] = one.opcode == spv::OpConstantTrue;
      break;
    case spv::OpFunction:
      function_ = one.result;
      break;
    case spv::OpFunctionParameter:
      parameters_[function_].push_back(one.result);
      break;
    default:
      break;
  }
  if (one.type != 0 && matrix_in(one.type) != 0) values_[one.result] = one.type;
}

/// All of these that have matrices in them have one use.
void MatrixFlow::join_all(const Instruction& one, std::span<const std::uint32_t> ids) {
  std::uint32_t first = 0;
  for (const std::uint32_t id : ids) {
    if (!holds_matrix(id)) continue;
    if (first != 0) classes_.join(first, id, one);
    first = id;
  }
}

void MatrixFlow::join_matrices(const Instruction& one) {
  Ids ids = one.ids;
  if (one.result != 0) ids.push_back(one.result);
  join_all(one, ids);
}

void MatrixFlow::follow_call(const Instruction& one) {
  const std::uint32_t callee = one.operands[0];
  const Ids& parameters = parameters_[callee];
  for (std::size_t i = 0; i < parameters.size() && i + 1 < one.operands.size(); ++i)
    join_all(one, std::array{parameters[i], one.operands[i + 1]});
  join_all(one, std::array{one.result, callee});
}

void MatrixFlow::follow(const Instruction& one) {
  if (one.opcode == spv::OpFunction) function_ = one.result;
  const bool has_matrix =
      holds_matrix(one.result) || std::ranges::any_of(one.ids, [&](auto id) { return holds_matrix(id); });
  if (has_matrix) follow_value(one);
}

void MatrixFlow::follow_value(const Instruction& one) {
  switch (one.opcode) {
    case spv::OpName:
    case spv::OpDecorate:
    case spv::OpEntryPoint:
    case spv::OpFunction:
    case spv::OpFunctionParameter:
    case spv::OpConstantNull:
    case spv::OpUndef:
    case spv::OpCooperativeMatrixLoadNV:
    case spv::OpCooperativeMatrixStoreNV:
    case spv::OpCooperativeMatrixLengthNV:
      return;
    case spv::OpCooperativeMatrixMulAddNV:
      classes_.require(one.operands[0], MatrixUse::A, one);
      classes_.require(one.operands[1], MatrixUse::B, one);
      classes_.require(one.operands[2], MatrixUse::Accumulator, one);
      classes_.require(one.result, MatrixUse::Accumulator, one);
      return;
    case spv::OpFunctionCall:
      return follow_call(one);
    case spv::OpReturnValue:
      return join_all(one, std::array{one.operands[0], function_});
    case spv::OpVariable:
    case spv::OpLoad:
    case spv::OpStore:
    case spv::OpCopyMemory:
    case spv::OpCopyObject:
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpPhi:
    case spv::OpSelect:
    case spv::OpCompositeConstruct:
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert:
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite:
    case spv::OpConvertFToU:
    case spv::OpConvertFToS:
    case spv::OpConvertSToF:
    case spv::OpConvertUToF:
    case spv::OpUConvert:
    case spv::OpSConvert:
    case spv::OpFConvert:
    case spv::OpBitcast:
    case spv::OpSNegate:
    case spv::OpFNegate:
    case spv::OpIAdd:
    case spv::OpFAdd:
    case spv::OpISub:
    case spv::OpFSub:
    case spv::OpIMul:
    case spv::OpFMul:
    case spv::OpUDiv:
    case spv::OpSDiv:
    case spv::OpFDiv:
    case spv::OpMatrixTimesScalar:
      return join_matrices(one);
    default:
      refuse(one, "KHR's matrices are not known to take part in it");
  }
}

/// Writes the module again.
class KhrWriter {
 public:
  KhrWriter(std::span<const std::uint32_t> words, MatrixFlow& flow)
      : flow_(flow), made_(words.begin(), words.begin() + spirv_header_words), next_id_(words[bound_at]) {
    for (const Instruction& one : flow_.code()) {
      if (is_uint(one)) uint_ = one.result;
    }
  }

  std::vector<std::uint32_t> write() {
    for (const Instruction& one : flow_.code()) write(one);
    made_[bound_at] = next_id_;
    return std::move(made_);
  }

 private:
  static bool is_uint(const Instruction& one) {
    return one.opcode == spv::OpTypeInt && one.operands[0] == 32 && one.operands[1] == 0;
  }

  void emit(std::uint32_t opcode, std::uint32_t type, std::uint32_t result,
            std::span<const std::uint32_t> operands) {
    const std::size_t count = 1 + (type != 0 ? 1U : 0U) + (result != 0 ? 1U : 0U) + operands.size();
    made_.push_back(static_cast<std::uint32_t>(count << spv::WordCountShift) | opcode);
    if (type != 0) made_.push_back(type);
    if (result != 0) made_.push_back(result);
    made_.insert(made_.end(), operands.begin(), operands.end());
  }
  void emit(const Instruction& one) { emit(one.opcode, one.type, one.result, one.operands); }

  void write(const Instruction& one);
  void write_constants();
  void write_matrix_type(const Instruction& one);
  void write_derived_type(const Instruction& one, std::size_t inner);
  void write_function_types();
  void write_load(const Instruction& one);
  void write_store(const Instruction& one);
  void write_product(const Instruction& one);
  std::uint32_t type_of_length(const Instruction& one, std::uint32_t type);
  std::uint32_t layout_constant(const Instruction& one, std::uint32_t is_column_major) const;
  std::uint32_t type_for(std::uint32_t type, MatrixUse use);
  /// The type of a value, or of what a function returns.
  std::uint32_t type_of(std::uint32_t type, std::uint32_t id) {
    return flow_.matrix_in(type) == 0 ? type : type_for(type, flow_.use(id));
  }

  MatrixFlow& flow_;
  std::vector<std::uint32_t> made_;
  std::uint32_t next_id_;
  std::uint32_t uint_ = 0;  ///< the type of 32-bit unsigned integers; 0: the module has none
  bool has_uint_ = false;   ///< it is written
  std::array<std::uint32_t, 3> constants_{};  ///< 0, 1 and 2
  std::map<std::pair<std::uint32_t, MatrixUse>, std::uint32_t> types_;
  std::set<std::uint32_t> function_types_;               ///< those with matrices: return type and parameters
  std::map<Ids, std::uint32_t> written_function_types_;  ///< the same, as they become
  std::map<std::uint32_t, std::uint32_t> types_of_functions_;
  bool in_functions_ = false;
};

std::uint32_t KhrWriter::type_for(std::uint32_t type, MatrixUse use) {
  const auto known = types_.find({type, use});
  if (known != types_.end()) return known->second;
  const std::set<MatrixUse> uses = flow_.uses(flow_.matrix_in(type));
  // One of the uses keeps the id.
  const std::uint32_t id = *uses.begin() == use ? type : next_id_++;
  types_[{type, use}] = id;
  return id;
}

/// The integers that stand for uses and layouts, before the first type that needs them.
void KhrWriter::write_constants() {
  if (constants_[0] != 0) return;
  if (uint_ == 0) uint_ = next_id_++;
  if (!std::exchange(has_uint_, true)) emit(spv::OpTypeInt, 0, uint_, std::array<std::uint32_t, 2>{32, 0});
  for (std::uint32_t value = 0; value < constants_.size(); ++value) {
    constants_.at(value) = next_id_++;
    emit(spv::OpConstant, uint_, constants_.at(value), std::array{value});
  }
}

void KhrWriter::write_matrix_type(const Instruction& one) {
  write_constants();
  for (const MatrixUse use : flow_.uses(one.result)) {
    Ids operands(one.operands.begin(), one.operands.end());
    operands.push_back(constants_.at(static_cast<std::size_t>(use)));
    emit(op_type_matrix_khr, 0, type_for(one.result, use), operands);
  }
}

/// An array or a pointer; `inner`: the operand that is the type in it.
void KhrWriter::write_derived_type(const Instruction& one, std::size_t inner) {
  for (const MatrixUse use : flow_.uses(flow_.matrix_in(one.result))) {
    Ids operands(one.operands.begin(), one.operands.end());
    operands[inner] = type_for(operands[inner], use);
    emit(one.opcode, 0, type_for(one.result, use), operands);
  }
}

/// Functions of one type may differ in the uses of their matrices. A type with matrices is written here,
/// after all others.
void KhrWriter::write_function_types() {
  std::set<std::uint32_t> kept;
  const Instruction* function = nullptr;
  Ids signature;
  const auto end_function = [&] {
    if (function == nullptr) return;
    const std::uint32_t declared = function->operands[1];
    const auto [known, is_new] = written_function_types_.try_emplace(signature, 0);
    if (is_new) {
      known->second = kept.insert(declared).second ? declared : next_id_++;
      emit(spv::OpTypeFunction, 0, known->second, signature);
    }
    types_of_functions_[function->result] = known->second;
    function = nullptr;
  };
  for (const Instruction& one : flow_.code()) {
    if (one.opcode == spv::OpFunction && function_types_.contains(one.operands[1])) {
      function = &one;
      signature = {type_of(one.type, one.result)};
    } else if (one.opcode == spv::OpFunctionParameter && function != nullptr) {
      signature.push_back(type_of(one.type, one.result));
    } else if (one.opcode == spv::OpLabel || one.opcode == spv::OpFunctionEnd) {
      end_function();
    }
  }
}

std::uint32_t KhrWriter::layout_constant(const Instruction& one, std::uint32_t is_column_major) const {
  const std::optional<MatrixLayout> layout = flow_.layout(is_column_major);
  if (!layout) refuse(one, "its layout is no constant");
  return constants_.at(static_cast<std::size_t>(*layout));
}

void KhrWriter::write_load(const Instruction& one) {
  constexpr std::size_t access = 3;  // pointer, stride, layout, how memory is accessed
  Ids operands{one.operands[0], layout_constant(one, one.operands[2]), one.operands[1]};
  operands.insert(operands.end(), one.operands.begin() + access, one.operands.end());
  emit(op_matrix_load_khr, type_of(one.type, one.result), one.result, operands);
}

void KhrWriter::write_store(const Instruction& one) {
  constexpr std::size_t access = 4;  // pointer, matrix, stride, layout, how memory is accessed
  Ids operands{one.operands[0], one.operands[1], layout_constant(one, one.operands[3]), one.operands[2]};
  operands.insert(operands.end(), one.operands.begin() + access, one.operands.end());
  emit(op_matrix_store_khr, 0, 0, operands);
}

void KhrWriter::write_product(const Instruction& one) {
  std::uint32_t is_signed = 0;
  if (flow_.has_signed_components(one.operands[0])) is_signed |= matrix_a_signed;
  if (flow_.has_signed_components(one.operands[1])) is_signed |= matrix_b_signed;
  if (flow_.has_signed_components(one.operands[2])) is_signed |= matrix_c_signed;
  if (flow_.has_signed_components(one.result)) is_signed |= matrix_result_signed;
  Ids operands(one.operands.begin(), one.operands.end());
  if (is_signed != 0) operands.push_back(is_signed);
  emit(op_matrix_mul_add_khr, type_of(one.type, one.result), one.result, operands);
}

std::uint32_t KhrWriter::type_of_length(const Instruction& one, std::uint32_t type) {
  const std::set<MatrixUse> uses = flow_.uses(type);
  if (uses.size() > 1) refuse(one, "the length of a type with several uses, whose lengths may differ");
  return type_for(type, *uses.begin());
}

void KhrWriter::write(const Instruction& one) {
  if (one.opcode == spv::OpFunction && !std::exchange(in_functions_, true)) write_function_types();
  switch (one.opcode) {
    case spv::OpCapability: {
      const bool is_nv = one.operands[0] == spv::CapabilityCooperativeMatrixNV;
      return emit(one.opcode, 0, 0, std::array{is_nv ? capability_cooperative_matrix_khr : one.operands[0]});
    }
    case spv::OpExtension: {
      SpirvInstruction text{.operands = one.operands};
      if (text.text(0) != "SPV_NV_cooperative_matrix") return emit(one);
      // "SPV_KHR_cooperative_matrix" in words of four letters, the first one lowest
      constexpr std::string_view name = "SPV_KHR_cooperative_matrix";
      Ids words(name.size() / 4 + 1);
      for (std::size_t i = 0; i < name.size(); ++i)
        words[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(name[i])) << (8 * (i % 4));
      return emit(one.opcode, 0, 0, words);
    }
    case spv::OpTypeInt:
      if (is_uint(one) && std::exchange(has_uint_, true)) return;
      return emit(one);
    case spv::OpTypeCooperativeMatrixNV:
      return write_matrix_type(one);
    case spv::OpTypeArray:
      return flow_.matrix_in(one.result) == 0 ? emit(one) : write_derived_type(one, 0);
    case spv::OpTypePointer:
      return flow_.matrix_in(one.result) == 0 ? emit(one) : write_derived_type(one, 1);
    case spv::OpTypeFunction:
      if (std::ranges::none_of(one.operands, [&](auto type) { return flow_.matrix_in(type) != 0; }))
        return emit(one);
      function_types_.insert(one.result);
      return;
    case spv::OpFunction: {
      const auto found = types_of_functions_.find(one.result);
      if (found == types_of_functions_.end()) return emit(one);
      return emit(one.opcode, type_of(one.type, one.result), one.result,
                  std::array{one.operands[0], found->second});
    }
    case spv::OpCooperativeMatrixLoadNV:
      return write_load(one);
    case spv::OpCooperativeMatrixStoreNV:
      return write_store(one);
    case spv::OpCooperativeMatrixMulAddNV:
      return write_product(one);
    case spv::OpCooperativeMatrixLengthNV:
      return emit(op_matrix_length_khr, one.type, one.result,
                  std::array{type_of_length(one, one.operands[0])});
    case spv::OpSpecConstantOp:
      if (one.operands[0] != spv::OpCooperativeMatrixLengthNV) return emit(one);
      return emit(one.opcode, one.type, one.result,
                  std::array{std::uint32_t{op_matrix_length_khr}, type_of_length(one, one.operands[1])});
    default:
      return emit(one.opcode, one.type == 0 ? 0 : type_of(one.type, one.result), one.result, one.operands);
  }
}

}  // namespace

std::vector<std::uint32_t> with_khr_matrices(std::span<const std::uint32_t> words) {
  MatrixFlow flow(words);
  if (!flow.has_matrices()) return {words.begin(), words.end()};
  return KhrWriter(words, flow).write();
}

}  // namespace assay::gpu
