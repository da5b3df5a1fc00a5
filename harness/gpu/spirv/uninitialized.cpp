#include "harness/gpu/spirv/uninitialized.h"

#include "harness/base/error.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/module_copy.h"
#include "harness/gpu/spirv/spirv_flow.h"
#include "harness/gpu/spirv/spirv_instructions.h"
#include "harness/gpu/spirv/spirv_rewrites.h"
#include "harness/gpu/spirv/spirv_types.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace assay::gpu {
namespace {

/// A variable of an invocation without an initial value.
bool is_uninitialized(const SpirvInstruction& instruction) {
  return instruction.opcode == spv::OpVariable && instruction.operands.size() == 1 &&
         (instruction.operands[0] == spv::StorageClassFunction ||
          instruction.operands[0] == spv::StorageClassPrivate);
}

/// The types of pointers to those in functions.
std::set<std::uint32_t> types_of_uninitialized(std::span<const std::uint32_t> words) {
  std::set<std::uint32_t> types;
  each_instruction(words, "the variables", [&](const SpirvInstruction& instruction) {
    if (is_uninitialized(instruction) && instruction.operands[0] == spv::StorageClassFunction)
      types.insert(instruction.type);
  });
  return types;
}

/// Small, so that a loop that counts to it ends and an index is not far off, and odd.
std::int64_t poisoned_integer(std::uint32_t bits, bool is_signed, PoisonSign sign) {
  constexpr std::int64_t small = 107, byte = 149, large = 27499;
  if (sign == PoisonSign::Positive) return small;
  if (is_signed) return -small;
  return bits > 8 ? large : byte;
}

/// The words of a float literal of that width: 60000, 1e30 or 1e300, with either sign.
std::vector<std::uint32_t> poisoned_float(std::uint32_t bits, PoisonSign sign) {
  constexpr std::uint32_t half = 0x7b53, single = 0x7149f2ca, high = 0x7e37e43c, low = 0x8800759c;
  const std::uint32_t negative = sign == PoisonSign::Positive ? 0 : 1;
  if (bits == 16) return {half | negative << 15U};
  if (bits == 32) return {single | negative << 31U};
  if (bits == 64) return {low, high | negative << 31U};
  return {};
}

/// Copies a module and adds initial values.
class Poisoner {
 public:
  Poisoner(std::span<const std::uint32_t> words, const std::map<std::uint32_t, std::uint32_t>& specialization,
           PoisonSign sign)
      : sign_(sign), of_functions_(types_of_uninitialized(words)), constants_(specialization), made_(words) {}

  void copy(const SpirvInstruction& instruction) {
    if (!is_in_functions_) {
      constants_.read(instruction);
      types_.read(instruction, constants_);
      if (instruction.opcode == spv::OpFunction) begin_functions();
    }
    if (is_uninitialized(instruction)) return copy_variable(instruction);
    if (instruction.opcode == spv::OpUndef && !is_in_functions_ && can_poison(instruction.type))
      return emit(instruction.type, instruction.result);
    made_.copy(instruction);
  }

  std::vector<std::uint32_t> result() && { return std::move(made_).result(); }

 private:
  /// Constants must precede the functions that use them.
  void begin_functions() {
    is_in_functions_ = true;
    for (const std::uint32_t pointer : of_functions_) {
      const std::uint32_t type = types_.pointee_id(pointer);
      if (can_poison(type)) value_of(type);
    }
  }

  void copy_variable(const SpirvInstruction& variable) {
    const std::uint32_t type = types_.pointee_id(variable.type);
    if (!can_poison(type)) return made_.copy(variable);
    const std::uint32_t value = value_of(type);
    made_.add(spv::OpVariable, {variable.type, variable.result, variable.operands[0], value});
  }

  /// The types of a composite's parts; nothing if `type` is no composite, or constants do not decide its
  /// size.
  std::optional<std::vector<std::uint32_t>> parts_of(const SpirvType& type) const {
    switch (type.opcode) {
      case spv::OpTypeVector:
      case spv::OpTypeMatrix:
        return std::vector<std::uint32_t>(type.operands[1], type.operands[0]);
      case spv::OpTypeArray: {
        const std::optional<std::uint32_t> length = constants_.value(type.operands[1]);
        if (!length || *length > most_poisoned_parts) return std::nullopt;
        return std::vector<std::uint32_t>(*length, type.operands[0]);
      }
      case spv::OpTypeStruct:
        return type.operands;
      default:
        return std::nullopt;
    }
  }

  /// The number of a type's components; 0: it has no constants, or too many.
  std::uint64_t components_of(std::uint32_t id) const {
    const SpirvType* type = types_.find(id);
    if (type == nullptr) return 0;
    if (type->opcode == spv::OpTypeBool || type->opcode == spv::OpTypeInt) return 1;
    if (type->opcode == spv::OpTypeFloat) return poisoned_float(type->operands[0], sign_).empty() ? 0 : 1;
    const auto parts = parts_of(*type);
    if (!parts) return 0;
    std::uint64_t all = 0;
    for (const std::uint32_t part : *parts) {
      const std::uint64_t some = components_of(part);
      if (some == 0) return 0;
      all += some;
    }
    return all <= most_poisoned_parts ? all : 0;
  }

  bool can_poison(std::uint32_t type) {
    const auto [place, is_new] = can_poison_.try_emplace(type, false);
    if (is_new) place->second = components_of(type) != 0;
    return place->second;
  }

  /// The constant of a type that can be poisoned. Outside of functions it is made when it is first needed.
  std::uint32_t value_of(std::uint32_t type) {
    const auto found = value_of_.find(type);
    if (found != value_of_.end()) return found->second;
    const std::uint32_t id = made_.new_id();
    emit(type, id);
    return value_of_[type] = id;
  }

  void emit(std::uint32_t id_of_type, std::uint32_t id) {
    const SpirvType& type = *types_.find(id_of_type);
    std::vector<std::uint32_t> operands{id_of_type, id};
    if (type.opcode == spv::OpTypeBool)
      return made_.add(sign_ == PoisonSign::Positive ? spv::OpConstantTrue : spv::OpConstantFalse, operands);
    if (const auto parts = parts_of(type)) {
      for (const std::uint32_t part : *parts) operands.push_back(value_of(part));
      return made_.add(spv::OpConstantComposite, operands);
    }
    const std::vector<std::uint32_t> number =
        type.opcode == spv::OpTypeFloat ? poisoned_float(type.operands[0], sign_) : integer_words(type);
    operands.insert(operands.end(), number.begin(), number.end());
    made_.add(spv::OpConstant, operands);
  }

  std::vector<std::uint32_t> integer_words(const SpirvType& type) const {
    const std::uint32_t bits = type.operands[0];
    const std::int64_t value = poisoned_integer(bits, type.operands[1] != 0, sign_);
    std::vector<std::uint32_t> words{static_cast<std::uint32_t>(value)};
    if (bits == 64) words.push_back(static_cast<std::uint32_t>(value < 0 ? -1 : 0));
    return words;
  }

  PoisonSign sign_;
  std::set<std::uint32_t> of_functions_;  ///< types of pointers
  SpirvConstants constants_;
  SpirvTypes types_;
  bool is_in_functions_ = false;
  std::map<std::uint32_t, bool> can_poison_;         ///< by type
  std::map<std::uint32_t, std::uint32_t> value_of_;  ///< by type
  ModuleCopy made_;
};

/// Finds whether a variable may be mentioned on some way through a module before it is set as a whole.
class UninitializedSearch {
 public:
  explicit UninitializedSearch(const SpirvFlow& flow) : flow_(flow) {
    for (const auto& [id, variable] : flow.variables) {
      if (variable.storage_class == spv::StorageClassFunction ||
          variable.storage_class == spv::StorageClassPrivate)
        number_.emplace(id, number_.size());
    }
  }

  bool finds_one() {
    std::vector<Set> before(flow_.blocks.size(), Set(number_.size(), true));
    before.front() = Set(number_.size(), false);
    while (passes_on(before)) {
    }
    bool is_read = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (const FlowInstruction& one : flow_.blocks[i].instructions) {
        is_read = is_read || reads_uninitialized(one, before[i]);
        take(one, before[i]);
      }
    }
    return is_read;
  }

 private:
  /// Which variables are set, whatever way was taken. Where no way leads, all of them.
  using Set = std::vector<bool>;

  /// Takes what each block sets to those that may follow it. Returns whether anything changed.
  bool passes_on(std::vector<Set>& before) const {
    bool changes = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      Set after = before[i];
      for (const FlowInstruction& one : flow_.blocks[i].instructions) take(one, after);
      for (const std::size_t next : flow_.blocks[i].next) {
        for (std::size_t variable = 0; variable < after.size(); ++variable) {
          if (after[variable] || !before[next][variable]) continue;
          before[next][variable] = false;
          changes = true;
        }
      }
    }
    return changes;
  }

  std::optional<std::size_t> number_of(std::uint32_t id) const {
    const auto found = number_.find(id);
    return found == number_.end() ? std::nullopt : std::optional(found->second);
  }

  void take(const FlowInstruction& one, Set& set) const {
    if (one.opcode == spv::OpVariable) {
      if (const auto number = number_of(one.result)) set[*number] = !one.ids.empty();
    } else if (one.opcode == spv::OpStore) {
      if (const auto number = number_of(one.ids.front())) set[*number] = true;
    }
  }

  bool reads_uninitialized(const FlowInstruction& one, const Set& set) const {
    const auto first = one.ids.begin() + (one.opcode == spv::OpStore ? 1 : 0);
    return std::any_of(first, one.ids.end(), [&](std::uint32_t id) {
      const auto number = number_of(id);
      return number && !set[*number];
    });
  }

  const SpirvFlow& flow_;
  std::map<std::uint32_t, std::size_t> number_;  ///< of variables, by id
};

bool has_undefined_value(std::span<const std::uint32_t> words) {
  bool found = false;
  each_instruction(words, "undefined values", [&](const SpirvInstruction& instruction) {
    found = found || instruction.opcode == spv::OpUndef;
  });
  return found;
}

}  // namespace

std::vector<std::uint32_t> with_poisoned_variables(
    std::span<const std::uint32_t> words, const std::map<std::uint32_t, std::uint32_t>& specialization,
    PoisonSign sign) {
  if (words.size() < spirv_header_words) return {words.begin(), words.end()};
  Poisoner poisoner(words, specialization, sign);
  each_instruction(words, "uninitialized variables",
                   [&](const SpirvInstruction& instruction) { poisoner.copy(instruction); });
  return std::move(poisoner).result();
}

bool may_read_uninitialized(std::span<const std::uint32_t> words) try {
  if (has_undefined_value(words)) return true;
  const SpirvFlow flow = flow_of(with_entry_main(words));
  return UninitializedSearch(flow).finds_one();
} catch (const Error&) {
  return true;  // it is too large
}

}  // namespace assay::gpu
