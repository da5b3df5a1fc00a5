#include "harness/cases/style.h"

#include "harness/cases/model_keys.h"

namespace assay::cases {
namespace {

bool is_without_sets(std::string_view key) {
  return key == "impl" || key == "seed" || key == "tolerance" || key == "expected" || is_model_key(key);
}

}  // namespace

Style Style::below(std::string_view key) const {
  if (kind == Kind::With) return style_of(key);
  Style style = *this;
  style.prefix.clear();
  if (kind == Kind::Tune) style.prefix = key;
  if (key == "npy" || key == "npz" || key == "member")
    style.sets = false;  // a set's name there would be a file or member name
  return style;
}

Style style_of(std::string_view key) {
  Style style;
  if (key == "tune") style.kind = Style::Kind::Tune;
  if (key == "forms" || key == "impl") style.kind = Style::Kind::Hidden;
  if (key == "with") style.kind = Style::Kind::With;
  style.sets = !is_without_sets(key);
  return style;
}

}  // namespace assay::cases
