#include "harness/op/program.h"

#include "harness/base/error.h"
#include "harness/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace assay {

std::string_view name_of(DispatchRole role) {
  static constexpr Names<3> names{"op", "transition", "setup"};
  return name_in(names, role);
}

bool ask_for_khr_matrices(std::span<const Define> defines) {
  return std::ranges::find(defines, khr_matrices_define, &Define::name) != defines.end();
}

void add_khr_matrices(std::vector<Define>& defines) {
  defines.push_back({std::string(khr_matrices_define), "1"});
}

std::vector<Define> without_khr_matrices(std::vector<Define> defines) {
  std::erase_if(defines, [](const Define& one) { return one.name == khr_matrices_define; });
  return defines;
}

std::vector<Resource> scratch_with_memory(const Program& program) {
  std::vector<Resource> found;
  for (std::uint32_t i = 0; i < program.scratch.size(); ++i) {
    if (!program.scratch[i].in_memory_of) found.push_back(Resource::scratch(i));
  }
  return found;
}

std::vector<Resource> zero_scratch(const Program& program) {
  std::vector<Resource> found;
  for (std::uint32_t i = 0; i < program.scratch.size(); ++i) {
    if (program.scratch[i].is_zero_between_runs) found.push_back(Resource::scratch(i));
  }
  return found;
}

Resource add_scratch(Program& program, Scratch scratch) {
  program.scratch.push_back(std::move(scratch));
  return Resource::scratch(static_cast<std::uint32_t>(program.scratch.size() - 1));
}

void append(Program& program, const Program& part, std::span<const Resource> tensors) {
  const auto first_scratch = static_cast<std::uint32_t>(program.scratch.size());
  const auto moved = [&](const Dispatch& dispatch, Resource resource) {
    if (resource.kind == Resource::Kind::Scratch) return Resource::scratch(first_scratch + resource.index);
    if (resource.index < tensors.size()) return tensors[resource.index];
    throw std::logic_error(
        fmt::format("appending a program to another: its dispatch '{}' binds tensor {}, but {} are given",
                    dispatch.label, resource.index, tensors.size()));
  };
  std::vector<Dispatch> dispatches = part.dispatches;
  for (Dispatch& dispatch : dispatches) {
    for (Binding& binding : dispatch.bindings) binding.resource = moved(dispatch, binding.resource);
  }
  for (Scratch scratch : part.scratch) {
    if (scratch.in_memory_of) *scratch.in_memory_of += first_scratch;
    program.scratch.push_back(std::move(scratch));
  }
  std::ranges::move(dispatches, std::back_inserter(program.dispatches));
  if (program.free_access_because.empty()) program.free_access_because = part.free_access_because;
  if (program.unchecked_because.empty()) program.unchecked_because = part.unchecked_because;
}

std::array<std::uint32_t, 3> fold_grid(std::int64_t invocations, std::uint32_t local_size,
                                       std::uint32_t most_along_x) {
  constexpr std::int64_t most = workgroups_of_any_device;
  constexpr std::int64_t indices = std::int64_t{1} << 32;  // the flat index is a 32-bit uint
  if (invocations < 0 || local_size == 0) {
    throw Error(
        fmt::format("a grid of {} invocations in workgroups of {} is impossible", invocations, local_size));
  }
  if (invocations > indices) {
    throw Error(fmt::format("a grid of {} invocations exceeds a 32-bit index", invocations));
  }
  const std::int64_t groups = std::max<std::int64_t>(div_up(invocations, local_size), 1);
  const std::int64_t y = div_up(groups, std::clamp<std::int64_t>(most_along_x, 1, most));
  const std::int64_t x = div_up(groups, y);  // spread evenly, so that few workgroups are past the end
  if (y > most || x * y * local_size > indices) {
    throw Error(
        fmt::format("{} workgroups of {} do not fit in two dimensions of {} with a 32-bit index: use larger "
                    "workgroups or more elements per invocation",
                    groups, local_size, most));
  }
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 1};
}

}  // namespace assay
