#include "ops/common/forms.h"

namespace assay::ops {

std::vector<Form> float_forms() {
  std::vector<Form> forms;
  for (const Storage storage : {Storage::Buffer, Storage::Texture3D, Storage::Texture2D}) {
    for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) forms.push_back({storage, layout});
  }
  return forms;
}

std::vector<Form> int8_forms(Layout first) {
  std::vector<Form> forms{{Storage::Buffer, first}};
  for (const Layout layout : {Layout::P4W, Layout::P4C, Layout::P4C1W, Layout::P4W4C, Layout::P4H4W}) {
    if (layout != first) forms.push_back({Storage::Buffer, layout});
  }
  return forms;
}

}  // namespace assay::ops
