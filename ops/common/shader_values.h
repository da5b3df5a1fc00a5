#pragma once

#include "harness/device/device_info.h"
#include "harness/op/op.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::ops {

// Values that several kernels get from the host: #defines, divisors, subgroup sizes, and constants that are
// built in.

/// The value of a #define that is a flag: "1" or "0".
std::string flag(bool value);

/// Adds a #define to `dispatch`.
void set_define(Dispatch& dispatch, std::string name, std::int64_t value);

/// Adds a specialization constant to `dispatch`.
void set_constant(Dispatch& dispatch, std::string name, std::int64_t value);

/// Binds a resource to `dispatch` and defines `name` as the number of its binding.
void bind_at(Dispatch& dispatch, std::string name, const Binding& binding);

/// TEXTURE: 0 for a buffer, else the number of dimensions.
Define texture_define(Form form);

/// Demands the device's own subgroup size and that all subgroups are full, for a dispatch whose local size is
/// set and for which DeviceInfo::knows_subgroup_size() is true. Where all subgroups have one size it demands
/// both only if the device can, since a driver may fill subgroups partly unless full ones are demanded.
void demand_subgroup_size(Dispatch& dispatch, const DeviceInfo& device);

/// Why that cannot be demanded of workgroups of `invocations` along x, or nothing.
std::optional<std::string> subgroup_size_unsupported_reason(std::int64_t invocations,
                                                            const DeviceInfo& device);

/// Sets SUBGROUPS of shaders/common/value_range.glslh for a dispatch whose local size is set: whether the
/// invocations of a subgroup exchange registers. They are numbered gl_SubgroupID * gl_SubgroupSize +
/// gl_SubgroupInvocationID, which counts every number once only if all subgroups are full, or the last one
/// alone is not. The dispatch demands full ones where the device can. It uses shared memory where several
/// sizes could not be told apart, and where the last one of several subgroups would not be full: its
/// invocations would read registers of some that do not exist.
void use_subgroups(Dispatch& dispatch, const DeviceInfo& device);

/// Division by a number that a shader knows only at run time: `divide` in shaders/common/indexing.glslh.
struct Divider {
  std::uint32_t multiplier = 0;  ///< 0 stands for division by 1
  std::uint32_t shift = 0;
};

/// The divider for quotients n / divisor with n < 2^31. Throws std::logic_error unless 1 <= divisor < 2^31.
Divider divider(std::int64_t divisor);

/// Appends a `Divider` of shaders/common/indexing.glslh.
inline void add(PushConstants& push, Divider divider) {
  push.add(std::int64_t{divider.multiplier}).add(std::int64_t{divider.shift});
}

// Push constants that are built into the program as specialization constants. A dispatch over a small tensor
// waits for latency, and its push constants are in no cache when it begins (shaders/NOTES.md).

/// The tunable `bake`: 1 builds the push constants in; 0 leaves programs that all shapes share.
Tunable bake_tunable();

/// The tuned value of `bake`; by default 1, but 0 on a CPU, where constants are cached.
bool wants_bake(const BuildContext& context);

/// Gives `dispatch`, whose push constants are complete, the specialization constants `baked` (a bool) and
/// `baked_<name>` for each word of its push constants. `names` has one name per word, in order. A word with
/// the name "" is only pushed; the divider of a number that is itself baked, say, is not needed. Without
/// `bakes` all of them are 1 except `baked`, whatever is pushed. Throws std::logic_error where the numbers of
/// names and words differ.
void bake(Dispatch& dispatch, std::span<const std::string_view> names, bool bakes);

}  // namespace assay::ops
