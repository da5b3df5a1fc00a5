#include "ops/registry.h"

namespace assay::ops {

Op generated();

/// The op that `assay new-op generated` wrote, alone.
Registry registry() {
  return Registry({generated()});
}

}  // namespace assay::ops
