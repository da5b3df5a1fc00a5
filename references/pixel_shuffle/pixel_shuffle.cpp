#include "references/pixel_shuffle/pixel_shuffle.h"

#include "references/pixel_shuffle/pixel_shuffle_rows.h"
#include "references/pixel_shuffle/q8ta_pixel_shuffle.h"

namespace assay::references {
namespace {

template <class T>
void shuffle(const HostTensor& x, std::int64_t r, HostTensor& y) {
  shuffle_pixels(nchw(x.shape()), r, x.as<T>().data(), y.as<T>().data(), [](T value) { return value; });
}

}  // namespace

std::vector<Expected> pixel_shuffle(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t r = params.integer("upscale_factor");
  const HostTensor& x = inputs[0];
  std::vector<Expected> outputs(1);
  HostTensor& y = outputs[0].values;
  y = HostTensor(x.dtype(), pixel_shuffled(x.shape(), r));
  if (x.dtype() == DType::F16) {
    shuffle<Half>(x, r, y);
  } else {
    shuffle<float>(x, r, y);
  }
  return outputs;
}

}  // namespace assay::references
