#include "ops/common/bake.h"

#include <stdexcept>
#include <string>

namespace assay::ops {

Tunable bake_tunable() {
  return {.name = "bake",
          .fallback = 1,
          .min = 0,
          .max = 1,
          .doc =
              "1: sizes and qparams are built into the program; 0: they are pushed, and all shapes share "
              "programs; by default 1, but 0 on a CPU, where constants are cached"};
}

bool wants_bake(const BuildContext& context) {
  return context.tuned("bake", context.device.is_cpu() ? 0 : 1) != 0;
}

void bake(Dispatch& dispatch, std::span<const std::string_view> names, bool bakes) {
  const std::vector<std::uint32_t>& words = dispatch.push.words();
  if (names.size() != words.size()) {
    throw std::logic_error("bake: " + std::to_string(names.size()) + " names for the " +
                           std::to_string(words.size()) + " push constants of dispatch '" + dispatch.label +
                           "'");
  }
  dispatch.constants.push_back({"baked", bakes ? 1U : 0U});
  for (std::size_t i = 0; i < names.size(); ++i) {
    // 1, not 0: no compiler should see a division by zero, not even one that is never executed.
    if (!names[i].empty()) {
      dispatch.constants.push_back({"baked_" + std::string(names[i]), bakes ? words[i] : 1U});
    }
  }
}

}  // namespace assay::ops
