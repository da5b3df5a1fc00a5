#include "harness/gpu/spirv/spirv_flow.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay::gpu {
namespace {

constexpr std::size_t deepest_call = 64, most_instructions = 200'000;

[[noreturn]] void refuse(std::string_view what) {
  throw Error(fmt::format("reading the control flow of a SPIR-V module: {}", what));
}

/// A function as the module has it.
struct Body {
  struct Block {
    std::uint32_t label = 0;
    std::vector<FlowInstruction> instructions;
  };

  std::vector<std::uint32_t> parameters;
  std::vector<Block> blocks;
};

struct Module {
  std::uint32_t main = 0;
  std::map<std::uint32_t, Body> functions;
  std::map<std::uint32_t, SpirvFlow::Variable> globals;
  std::map<std::uint32_t, std::uint32_t> constants;
};

class ModuleReader {
 public:
  void read(const SpirvInstruction& instruction) {
    if (instruction.opcode == spv::OpFunction) {
      body_ = &made_.functions[instruction.result];
    } else if (instruction.opcode == spv::OpFunctionEnd) {
      body_ = nullptr;
    } else if (body_ != nullptr) {
      read_in_function(instruction);
    } else {
      read_global(instruction);
    }
  }

  Module made() && {
    for (auto& [id, variable] : made_.globals) {
      variable.binding = decoration(bindings_, id);
      variable.built_in = decoration(built_ins_, id);
    }
    return std::move(made_);
  }

 private:
  using Decorations = std::map<std::uint32_t, std::uint32_t>;

  static std::optional<std::uint32_t> decoration(const Decorations& all, std::uint32_t id) {
    const auto found = all.find(id);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }

  void read_in_function(const SpirvInstruction& instruction) {
    if (instruction.opcode == spv::OpFunctionParameter) {
      body_->parameters.push_back(instruction.result);
    } else if (instruction.opcode == spv::OpLabel) {
      body_->blocks.push_back({.label = instruction.result, .instructions = {}});
    } else if (!body_->blocks.empty()) {
      body_->blocks.back().instructions.push_back(
          {instruction.opcode, instruction.result, {instruction.ids.begin(), instruction.ids.end()}});
    }
  }

  void read_global(const SpirvInstruction& instruction) {
    const auto& operands = instruction.operands;
    if (instruction.opcode == spv::OpVariable) {
      made_.globals[instruction.result].storage_class = operands[0];
    } else if (instruction.opcode == spv::OpDecorate && operands[1] == spv::DecorationBinding) {
      bindings_[operands[0]] = operands[2];
    } else if (instruction.opcode == spv::OpDecorate && operands[1] == spv::DecorationBuiltIn) {
      built_ins_[operands[0]] = operands[2];
    } else if (instruction.opcode == spv::OpConstant && operands.size() == 1) {
      made_.constants[instruction.result] = operands[0];
    } else if (instruction.opcode == spv::OpEntryPoint && operands[0] == spv::ExecutionModelGLCompute &&
               instruction.text(2) == "main") {
      made_.main = operands[1];
    }
  }

  Module made_;
  Body* body_ = nullptr;
  Decorations bindings_, built_ins_;
};

bool is_label_alone(std::uint16_t opcode) {
  return opcode == spv::OpBranch || opcode == spv::OpSelectionMerge || opcode == spv::OpLoopMerge;
}

bool branches(std::uint16_t opcode) {
  return opcode == spv::OpBranch || opcode == spv::OpBranchConditional || opcode == spv::OpSwitch;
}

class Inliner {
 public:
  explicit Inliner(const Module& module) : module_(module), next_id_(first_new_id(module)) {}

  SpirvFlow made() && {
    flow_.variables = module_.globals;
    flow_.constants = module_.constants;
    flow_.blocks.emplace_back();
    inline_call({.function = module_.main, .from = 0, .to = std::nullopt, .result = 0, .arguments = {}}, 0);
    flow_.first_free_id = next_id_;
    return std::move(flow_);
  }

 private:
  struct Call {
    std::uint32_t function = 0;
    std::size_t from = 0;           ///< the block that calls
    std::optional<std::size_t> to;  ///< the block in which it returns; nothing: main()
    std::uint32_t result = 0;
    std::vector<std::uint32_t> arguments;
  };

  /// What ids and labels of a function are in one of its calls.
  struct Names {
    std::map<std::uint32_t, std::uint32_t> ids;
    std::map<std::uint32_t, std::size_t> blocks;

    std::uint32_t id(std::uint32_t old) const {
      const auto found = ids.find(old);
      return found == ids.end() ? old : found->second;
    }
  };

  static std::uint32_t first_new_id(const Module& module) {
    std::uint32_t last = 0;
    const auto see = [&](std::uint32_t id) { last = std::max(last, id); };
    for (const auto& [id, variable] : module.globals) see(id);
    for (const auto& [id, value] : module.constants) see(id);
    for (const auto& [function, body] : module.functions) {
      see(function);
      for (const std::uint32_t parameter : body.parameters) see(parameter);
      for (const Body::Block& block : body.blocks) {
        see(block.label);
        for (const FlowInstruction& one : block.instructions) {
          see(one.result);
          for (const std::uint32_t id : one.ids) see(id);
        }
      }
    }
    return last + 1;
  }

  Names names_of(const Body& body, const Call& call) {
    Names names;
    for (std::size_t i = 0; i < body.parameters.size() && i < call.arguments.size(); ++i) {
      names.ids[body.parameters[i]] = call.arguments[i];
    }
    for (const Body::Block& block : body.blocks) {
      names.blocks[block.label] = flow_.blocks.size();
      flow_.blocks.emplace_back();
      for (const FlowInstruction& one : block.instructions) {
        if (one.result != 0) names.ids[one.result] = next_id_++;
      }
    }
    return names;
  }

  void inline_call(const Call& call, std::size_t depth) {
    const auto found = module_.functions.find(call.function);
    if (found == module_.functions.end() || found->second.blocks.empty()) refuse("it has no such function");
    if (depth > deepest_call) refuse("its functions call each other too deeply");
    const Body& body = found->second;
    const Names names = names_of(body, call);
    flow_.blocks[call.from].next = {names.blocks.at(body.blocks.front().label)};
    for (const Body::Block& block : body.blocks) inline_block(block, names, call, depth);
  }

  void inline_block(const Body::Block& block, const Names& names, const Call& call, std::size_t depth) {
    std::size_t at = names.blocks.at(block.label);
    for (const FlowInstruction& one : block.instructions) {
      if (++instructions_ > most_instructions) refuse("it is too large");
      FlowInstruction made = renamed(one, names);
      if (one.opcode == spv::OpFunctionCall) {
        const std::size_t after = flow_.blocks.size();
        flow_.blocks.emplace_back();
        inline_call({.function = one.ids.front(),
                     .from = at,
                     .to = after,
                     .result = made.result,
                     .arguments = {made.ids.begin() + 1, made.ids.end()}},
                    depth + 1);
        at = after;
        continue;
      }
      if (one.opcode == spv::OpVariable) flow_.variables[made.result] = {spv::StorageClassFunction, {}, {}};
      if (one.opcode == spv::OpReturnValue) made.result = call.result;
      if (one.opcode == spv::OpReturn || one.opcode == spv::OpReturnValue) go_on(at, call.to);
      if (branches(one.opcode)) go_on(at, one, names);
      flow_.blocks[at].instructions.push_back(std::move(made));
    }
  }

  /// Without labels.
  static FlowInstruction renamed(const FlowInstruction& one, const Names& names) {
    FlowInstruction made{one.opcode, one.result == 0 ? 0 : names.id(one.result), {}};
    if (is_label_alone(one.opcode)) return made;
    for (const std::uint32_t id : one.ids) {
      if (!names.blocks.contains(id)) made.ids.push_back(names.id(id));
    }
    return made;
  }

  void go_on(std::size_t block, std::optional<std::size_t> to) {
    if (to) flow_.blocks[block].next = {*to};
  }

  void go_on(std::size_t block, const FlowInstruction& branch, const Names& names) {
    for (const std::uint32_t id : branch.ids) {
      const auto found = names.blocks.find(id);
      if (found != names.blocks.end()) flow_.blocks[block].next.push_back(found->second);
    }
  }

  const Module& module_;
  SpirvFlow flow_;
  std::uint32_t next_id_ = 0;
  std::size_t instructions_ = 0;
};

/// The blocks from the end on, each after one that may follow it, in the reverse of the order in which a walk
/// is done with them.
class Backwards {
 public:
  explicit Backwards(std::span<const FlowBlock> blocks) : before_(blocks.size() + 1) {
    const std::size_t end = blocks.size();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].next.empty()) before_[end].push_back(i);
      for (const std::size_t next : blocks[i].next) before_[next].push_back(i);
    }
    number_.assign(blocks.size() + 1, none);
    walk(end);
    std::ranges::reverse(order_);
    for (std::size_t i = 0; i < order_.size(); ++i) number_[order_[i]] = i;
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  const std::vector<std::size_t>& order() const { return order_; }
  std::size_t number(std::size_t block) const { return number_[block]; }

 private:
  /// Adds what comes before `end`, those last that were seen first.
  void walk(std::size_t end) {
    std::vector<bool> is_seen(before_.size());
    std::vector<std::pair<std::size_t, std::size_t>> open{{end, 0}};
    is_seen[end] = true;
    while (!open.empty()) {
      auto& [block, next] = open.back();
      if (next == before_[block].size()) {
        order_.push_back(block);
        open.pop_back();
        continue;
      }
      const std::size_t before = before_[block][next++];
      if (is_seen[before]) continue;
      is_seen[before] = true;
      open.emplace_back(before, 0);
    }
  }

  std::vector<std::vector<std::size_t>> before_;
  std::vector<std::size_t> order_, number_;
};

}  // namespace

SpirvFlow flow_of(std::span<const std::uint32_t> words) {
  ModuleReader reader;
  each_instruction(words, "the control flow",
                   [&](const SpirvInstruction& instruction) { reader.read(instruction); });
  const Module module = std::move(reader).made();
  if (module.main == 0) refuse("it has no compute shader 'main'");
  return Inliner(module).made();
}

std::vector<std::size_t> immediate_postdominators(std::span<const FlowBlock> blocks) {
  const std::size_t end = blocks.size();
  const Backwards backwards(blocks);
  std::vector<std::size_t> nearest(blocks.size() + 1, Backwards::none);
  nearest[end] = end;
  const auto common = [&](std::size_t a, std::size_t b) {
    while (a != b) {
      while (backwards.number(a) > backwards.number(b)) a = nearest[a];
      while (backwards.number(b) > backwards.number(a)) b = nearest[b];
    }
    return a;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (const std::size_t block : backwards.order()) {
      if (block == end) continue;
      std::size_t found = blocks[block].next.empty() ? end : Backwards::none;
      for (const std::size_t next : blocks[block].next) {
        if (nearest[next] == Backwards::none) continue;
        found = found == Backwards::none ? next : common(found, next);
      }
      changes = changes || nearest[block] != found;
      nearest[block] = found;
    }
  }
  std::ranges::replace(nearest, Backwards::none, end);
  nearest.pop_back();
  return nearest;
}

}  // namespace assay::gpu
