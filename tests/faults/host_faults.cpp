#include "tests/faults/host_faults.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace assay::faults {
namespace {

using Damage = std::function<bool(Program&)>;  ///< false: nothing to damage

/// Applies `damage` to the program that is built rightly.
HostFault of_program(std::string name, Damage damage) {
  return {std::move(name),
          [damage = std::move(damage)](const BuildProgram& build,
                                       const BuildContext& context) -> std::optional<Program> {
            Program program = build(context);
            if (!damage(program)) return std::nullopt;
            return program;
          }};
}

/// The dispatch that computes the output: the last one.
Dispatch& main_dispatch(Program& program) {
  return program.dispatches.back();
}

HostFault fewer_workgroups(std::string name, std::size_t dim) {
  return of_program(std::move(name), [dim](Program& program) {
    std::uint32_t& count = main_dispatch(program).workgroups[dim];
    if (count < 2) return false;
    --count;
    return true;
  });
}

/// A word is missing at the front, so that each is read as the one before it.
bool shift_push_constants(Program& program) {
  Dispatch& dispatch = main_dispatch(program);
  std::vector<std::uint32_t> words = dispatch.push.words();
  if (std::ranges::all_of(words, [&](std::uint32_t word) { return word == words.front(); })) return false;
  std::rotate(words.begin(), words.begin() + 1, words.end());
  dispatch.push = {};
  for (const std::uint32_t word : words) dispatch.push.add(std::int64_t{word});
  return true;
}

bool is_input(const BuildContext& context, const Binding& binding) {
  return binding.resource.kind == Resource::Kind::Tensor &&
         context.tensors[binding.resource.index].is_input();
}

bool are_alike(const BuildContext& context, const Binding& a, const Binding& b) {
  return is_input(context, a) && is_input(context, b) && a.access == b.access &&
         context.tensors[a.resource.index].dtype == context.tensors[b.resource.index].dtype &&
         context.forms[a.resource.index] == context.forms[b.resource.index];
}

/// Two inputs of equal type and form change places.
std::optional<Program> swap_inputs(const BuildProgram& build, const BuildContext& context) {
  Program program = build(context);
  std::vector<Binding>& bindings = main_dispatch(program).bindings;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    for (std::size_t j = i + 1; j < bindings.size(); ++j) {
      if (!are_alike(context, bindings[i], bindings[j])) continue;
      std::swap(bindings[i], bindings[j]);
      return program;
    }
  }
  return std::nullopt;
}

/// Builds for other tensors or forms than those that the case has. An impl may refuse them.
std::optional<Program> built_for(const BuildProgram& build, const BuildContext& context,
                                 const std::vector<TensorSpec>& tensors, const std::vector<Form>& forms) try {
  return build(BuildContext(context.params, tensors, forms, context.device, context.tune));
} catch (const std::exception&) {
  return std::nullopt;
}

/// The tensor at `index` is packed in one layout and read or written in another.
std::optional<Program> in_other_layout(const BuildProgram& build, const BuildContext& context,
                                       std::size_t index) {
  const std::vector<TensorSpec> tensors(context.tensors.begin(), context.tensors.end());
  std::vector<Form> forms(context.forms.begin(), context.forms.end());
  const Form was = forms[index];
  for (const Form form : tensors[index].forms) {
    if (form == was || form.storage != was.storage) continue;
    forms[index] = form;
    if (const auto program = built_for(build, context, tensors, forms)) return program;
  }
  return std::nullopt;
}

/// Height and width, or rows and columns, of the tensor at `index` change places.
std::optional<Program> with_swapped_dims(const BuildProgram& build, const BuildContext& context,
                                         std::size_t index) {
  std::vector<TensorSpec> tensors(context.tensors.begin(), context.tensors.end());
  Shape& shape = tensors[index].shape;
  if (shape.size() < 2 || shape[shape.size() - 2] == shape.back()) return std::nullopt;
  std::swap(shape[shape.size() - 2], shape.back());
  return built_for(build, context, tensors, {context.forms.begin(), context.forms.end()});
}

bool drop_dispatch(Program& program, bool first) {
  if (program.dispatches.size() < 2) return false;
  program.dispatches.erase(first ? program.dispatches.begin() : program.dispatches.end() - 1);
  return true;
}

bool halve_scratch(Program& program) {
  for (Scratch& scratch : program.scratch) {
    const auto large = std::ranges::find_if(scratch.shape, [](std::int64_t dim) { return dim > 1; });
    if (large == scratch.shape.end()) continue;
    *large /= 2;
    return true;
  }
  return false;
}

bool flip_define(Program& program) {
  for (Define& define : main_dispatch(program).defines) {
    if (define.value != "0" && define.value != "1") continue;
    define.value = define.value == "0" ? "1" : "0";
    return true;
  }
  return false;
}

std::vector<HostFault> all_kinds() {
  const auto of_output = [](const BuildContext& context) { return context.tensors.size() - 1; };
  return {
      fewer_workgroups("one workgroup too few along x", 0),
      fewer_workgroups("one workgroup too few along y", 1),
      fewer_workgroups("one workgroup too few along z", 2),
      of_program("push constants one place too early", shift_push_constants),
      {"two inputs swapped", swap_inputs},
      {"the first input in another layout",
       [](const BuildProgram& build, const BuildContext& context) {
         return in_other_layout(build, context, 0);
       }},
      {"the output in another layout",
       [of_output](const BuildProgram& build, const BuildContext& context) {
         return in_other_layout(build, context, of_output(context));
       }},
      {"two dims of the first input swapped",
       [](const BuildProgram& build, const BuildContext& context) {
         return with_swapped_dims(build, context, 0);
       }},
      {"two dims of the output swapped",
       [of_output](const BuildProgram& build, const BuildContext& context) {
         return with_swapped_dims(build, context, of_output(context));
       }},
      of_program("the first dispatch left out",
                 [](Program& program) { return drop_dispatch(program, true); }),
      of_program("the last dispatch left out",
                 [](Program& program) { return drop_dispatch(program, false); }),
      of_program("half of a scratch tensor", halve_scratch),
      of_program("a define flipped", flip_define),
  };
}

}  // namespace

const std::vector<HostFault>& host_faults() {
  static const std::vector<HostFault> all = all_kinds();
  return all;
}

Impl with_host_fault(const Impl& impl, const HostFault& fault) {
  Impl wrong = impl;
  wrong.build = [build = impl.build, make = fault.make](const BuildContext& context) {
    std::optional<Program> program = make(build, context);
    return program ? *std::move(program) : build(context);
  };
  return wrong;
}

}  // namespace assay::faults
