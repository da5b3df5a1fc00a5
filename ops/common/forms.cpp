#include "ops/common/forms.h"

namespace assay::ops {

std::vector<Form> float_forms() {
  std::vector<Form> forms = all_forms();
  std::erase_if(forms, [](Form form) { return is_int8x4(form.layout); });
  return forms;
}

std::vector<Form> int8_forms(Layout first) {
  std::vector<Form> forms{{Storage::Buffer, first}};
  for (const LayoutInfo& info : all_layouts()) {
    if (info.is_int8x4() && info.layout != first) forms.push_back({Storage::Buffer, info.layout});
  }
  return forms;
}

}  // namespace assay::ops
