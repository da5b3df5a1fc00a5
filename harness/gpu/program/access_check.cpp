#include "harness/gpu/program/access_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace assay::gpu {
namespace {

bool is_tensor(Resource resource) {
  return resource.kind == Resource::Kind::Tensor;
}

bool writes(const DispatchCheck& one, Resource scratch) {
  bool found = false;
  one.each_use([&](Resource resource, const ShaderBinding& used) {
    found = found || (resource == scratch && used.is_written);
  });
  return found;
}

bool is_external(const DispatchCheck& one) {
  return one.dispatch().external.has_value();
}

/// ", where tensor 1 is bound": the writer of a manifest knows no numbers of tensors, but what the kernel
/// calls it.
std::string where_bound(const DispatchCheck& one, Resource tensor) {
  return is_external(one) ? "" : fmt::format(", where tensor {} is bound", tensor.index);
}

}  // namespace

bool AccessCheck::Order::operator()(Resource a, Resource b) const {
  return std::tuple(a.kind, a.index) < std::tuple(b.kind, b.index);
}

void AccessCheck::check(const DispatchCheck& one, std::size_t index) {
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

TensorAccess AccessCheck::allowed(Resource tensor) const {
  return tensor.index < access_.size() ? access_[tensor.index] : TensorAccess::Any;
}

AccessCheck::Uses AccessCheck::joined_by(const DispatchCheck& one) const {
  Uses found;
  one.each_use([&](Resource resource, const ShaderBinding& used) {
    const bool reads = used.is_read || used.is_updated;
    if (reads && !is_tensor(resource) && !written_.contains(resource)) found.try_emplace(resource, &used);
  });
  return found;
}

void AccessCheck::check_joined(const DispatchCheck& one, std::size_t index) {
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

std::optional<LateUse> AccessCheck::late_use_of(const DispatchCheck& one, std::size_t index) const {
  if (!late_use_) return LateUse{};
  KeptBindings kept;
  one.each_use([&](Resource resource, const ShaderBinding& used) {
    if (!joined_.contains(resource)) return;
    kept.all.insert(used.binding);
    if (is_counter(resource)) kept.counters.insert(used.binding);
  });
  return late_use_(index, kept);
}

void AccessCheck::check_is_own(const DispatchCheck& one, std::size_t index, Resource scratch,
                               const ShaderBinding& used) const {
  for (std::size_t i = 0; i < program_.dispatches.size(); ++i) {
    const Dispatch& other = program_.dispatches[i];
    const auto binds = [&](const Binding& binding) {
      return shares_memory(binding.resource, scratch) && (i != index || binding.resource != scratch);
    };
    if (std::ranges::none_of(other.bindings, binds)) continue;
    refuse_scratch_read(one, used, {fmt::format("dispatch '{}' uses its memory, too", other.label), {}});
  }
  if (used.kind != ShaderBinding::Kind::StorageBuffer)
    refuse_scratch_read(one, used, {"it is no buffer", {}});
}

bool AccessCheck::shares_memory(Resource a, Resource b) const {
  if (is_tensor(a) || is_tensor(b)) return false;
  const auto memory = [&](Resource one) {
    return program_.scratch[one.index].in_memory_of.value_or(one.index);
  };
  return memory(a) == memory(b);
}

void AccessCheck::check_reads(const DispatchCheck& one, Resource resource, const ShaderBinding& used,
                              bool is_timed) {
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

void AccessCheck::check_output_read(const DispatchCheck& one, Resource output, const ShaderBinding& used) {
  const bool is_own = written_.contains(output) && !updated_.contains(output);
  if (!program_.free_access_because.empty() && is_own) {
    read_.try_emplace(output, one.dispatch().label);
    return;
  }
  const char* const way_out = is_external(one) ? "Only write it; for what a later dispatch reads use "
                                                 "scratch. A tensor that the op updates in place has "
                                                 "`role: inout`"
                                               : "Only write it; or write it in an earlier dispatch, without "
                                                 "atomics, and let the impl's program say why "
                                                 "it must read it (free_access_because)";
  one.refuse(
      fmt::format("the shader reads {}{}, an output: what the program before left there could spare it the "
                  "work. {}",
                  place_text(used), where_bound(one, output), way_out));
}

void AccessCheck::check_scratch_read(const DispatchCheck& one, Resource scratch, const ShaderBinding& used) {
  if (used.is_read) read_.try_emplace(scratch, one.dispatch().label);
  if (!written_.contains(scratch)) refuse_scratch_read(one, used, {});
}

void AccessCheck::refuse_scratch_read(const DispatchCheck& one, const ShaderBinding& used,
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

void AccessCheck::check_write(const DispatchCheck& one, Resource resource, const ShaderBinding& used,
                              bool is_timed) const {
  if (is_tensor(resource) && allowed(resource) == TensorAccess::Read) {
    const char* const way_out =
        is_external(one) ? ". A tensor that the op updates in place has `role: inout`" : "";
    one.refuse(fmt::format("the shader writes {}{}, an input: what it leaves there the next program finds{}",
                           place_text(used), where_bound(one, resource), way_out));
  }
  const auto reader = read_.find(resource);
  if (is_timed && joined_.contains(resource)) return;
  if (!is_timed || reader == read_.end()) return;
  one.refuse(fmt::format(
      "the shader writes {}, where the {} is bound, which dispatch '{}' reads: the next program would find "
      "there what this one leaves, and could spare itself the work. Give the dispatch a scratch of its own",
      place_text(used), name_of(resource), reader->second));
}

std::string AccessCheck::name_of(Resource resource) const {
  return is_tensor(resource) ? fmt::format("output {}", resource.index)
                             : fmt::format("scratch '{}'", program_.scratch[resource.index].name);
}

void SetupCheck::check(const DispatchCheck& one) {
  one.each_use([&](Resource resource, const ShaderBinding& used) {
    if (resource.kind != Resource::Kind::Scratch) return;
    if (one.dispatch().role == DispatchRole::Setup) {
      check_setup(one, resource.index, used);
    } else {
      check_later(one, resource.index, used);
    }
  });
}

void SetupCheck::check_setup(const DispatchCheck& one, std::uint32_t scratch, const ShaderBinding& used) {
  const bool is_read = used.readonly || used.is_read || used.is_updated;
  if (is_read && !written_.contains(scratch)) {
    one.refuse(
        fmt::format("it is set-up and reads the scratch '{}' at {}, which no setup dispatch before it "
                    "writes",
                    program_.scratch[scratch].name, place_text(used)));
  }
  if (!used.readonly) written_.insert(scratch);
}

void SetupCheck::check_later(const DispatchCheck& one, std::uint32_t scratch,
                             const ShaderBinding& used) const {
  const bool only_reads = used.readonly && !used.is_written;
  if (only_reads || !written_.contains(scratch)) return;
  one.refuse(
      fmt::format("the shader may write {}, where the scratch '{}' is bound, which set-up wrote: set-up is "
                  "done once and not timed, so that all that follows must leave it alone. Declare it "
                  "readonly, or give the dispatch a scratch of its own",
                  place_text(used), program_.scratch[scratch].name));
}

}  // namespace assay::gpu
