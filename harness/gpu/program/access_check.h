#pragma once

#include "harness/gpu/gpu.h"
#include "harness/gpu/program/dispatch_check.h"
#include "harness/gpu/spirv/late_use.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace assay::gpu {

/// Looks for a late use of inputs by the shader of a dispatch (late_use_of_inputs()).
using LateUseOf = std::function<std::optional<LateUse>(std::size_t dispatch, const KeptBindings&)>;

/// Ensures that a program cannot use results of an earlier run. It may find only the unchanged inputs, and in
/// other memory only what set-up or the program itself has written. So no scratch may be read or updated
/// before it is written, or written after it was read: whatever is left there was written without knowledge
/// of an earlier run. The same holds for outputs that an impl's program says it reads. Other outputs may be
/// updated by atomics whose results are not used: they cannot tell the program anything. A dispatch may read
/// scratch that it writes itself where it does so after all that it does with its inputs.
class AccessCheck {
 public:
  /// `access` has an entry for each tensor; empty: nothing is checked. Without `late_use` no dispatch may
  /// read scratch that it writes.
  AccessCheck(const Program& program, std::span<const TensorAccess> access, LateUseOf late_use)
      : program_(program), access_(access), late_use_(std::move(late_use)) {}

  /// Checks dispatch `index`; call it with all dispatches, in order. Throws Error.
  void check(const DispatchCheck& one, std::size_t index);

 private:
  struct Order {
    bool operator()(Resource a, Resource b) const;
  };
  using Uses = std::map<Resource, const ShaderBinding*, Order>;

  TensorAccess allowed(Resource tensor) const;
  /// The scratch that it reads although nothing before has written it: by its resource, a use that reads.
  Uses joined_by(const DispatchCheck& one) const;
  void check_joined(const DispatchCheck& one, std::size_t index);
  bool is_counter(Resource scratch) const { return program_.scratch[scratch.index].is_zero_between_runs; }
  /// The late use of inputs of a dispatch that joins.
  std::optional<LateUse> late_use_of(const DispatchCheck& one, std::size_t index) const;
  /// No other dispatch may bind it, in whatever memory.
  void check_is_own(const DispatchCheck& one, std::size_t index, Resource scratch,
                    const ShaderBinding& used) const;
  bool shares_memory(Resource a, Resource b) const;
  void check_reads(const DispatchCheck& one, Resource resource, const ShaderBinding& used, bool is_timed);
  void check_output_read(const DispatchCheck& one, Resource output, const ShaderBinding& used);
  void check_scratch_read(const DispatchCheck& one, Resource scratch, const ShaderBinding& used);
  [[noreturn]] void refuse_scratch_read(const DispatchCheck& one, const ShaderBinding& used,
                                        const LateUse& because) const;
  void check_write(const DispatchCheck& one, Resource resource, const ShaderBinding& used,
                   bool is_timed) const;
  std::string name_of(Resource resource) const;

  const Program& program_;
  std::span<const TensorAccess> access_;
  LateUseOf late_use_;
  Uses joined_;                                             ///< of the dispatch that is being checked
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

  /// Call it with all dispatches, in order. Throws Error.
  void check(const DispatchCheck& one);

 private:
  void check_setup(const DispatchCheck& one, std::uint32_t scratch, const ShaderBinding& used);
  void check_later(const DispatchCheck& one, std::uint32_t scratch, const ShaderBinding& used) const;

  const Program& program_;
  std::set<std::uint32_t> written_;
};

}  // namespace assay::gpu
