#include "harness/op/expected.h"

#include "harness/base/names.h"

namespace assay {

std::string_view name_of(OutputClass output_class) {
  static constexpr Names<3> names{"exact", "banded", "bounded"};
  return name_in(names, output_class);
}

}  // namespace assay
