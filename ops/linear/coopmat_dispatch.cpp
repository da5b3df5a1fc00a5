#include "ops/linear/coopmat_dispatch.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"

namespace assay::ops {

void add_fragment(Dispatch& product, const Fragment& fragment, bool plain) {
  set_define(product, "MATRICES", plain ? 0 : 1);
  if (!plain && fragment.extension == MatrixExtension::Khr) add_khr_matrices(product.defines);
  set_define(product, "FRAGMENT_M", fragment.m);
  set_define(product, "FRAGMENT_N", fragment.n);
  set_define(product, "FRAGMENT_K", fragment.k);
}

void set_workgroups(Dispatch& product, std::int64_t workgroups, std::int64_t invocations,
                    std::int64_t shared_bytes, bool plain, const DeviceInfo& device) {
  product.local_size = {static_cast<std::uint32_t>(invocations), 1, 1};
  product.workgroups =
      fold_grid(workgroups * invocations, product.local_size[0], device.max_workgroup_count[0]);
  product.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
  if (!plain) demand_subgroup_size(product, device);
}

}  // namespace assay::ops
