#include "harness/engine/diagnosis/counterfactual.h"
#include "harness/engine/diagnosis/displacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

using Changes = std::vector<Counterfactual>;

bool is_parameter(const TensorSpec& spec) {
  return spec.domain.role == FillRole::Scale || spec.domain.role == FillRole::ZeroPoint;
}

std::int64_t stride_of(const Shape& shape, std::size_t dim) {
  std::int64_t stride = 1;
  for (std::size_t d = dim + 1; d < shape.size(); ++d) stride *= shape[d];
  return stride;
}

/// A tensor whose element i is the element `from(i)`.
HostTensor gathered(const HostTensor& tensor, const std::function<std::int64_t(std::int64_t)>& from,
                    const std::function<double(std::int64_t)>& where_none) {
  HostTensor moved = tensor;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const std::int64_t place = from(i);
    set_element(moved, i, place < 0 ? where_none(i) : tensor.at(place));
  }
  return moved;
}

// --- blocks ----------------------------------------------------------------------------------------------

/// A map from each block to the block whose parameters it uses.
struct BlockMap {
  std::string text;
  std::function<std::int64_t(std::int64_t)> from;
};

void add_block_maps_of_dim(std::vector<BlockMap>& maps, const Shape& shape, std::size_t dim) {
  const std::int64_t size = shape[dim];
  const std::int64_t stride = stride_of(shape, dim);
  const auto add = [&](std::string text, const std::function<std::int64_t(std::int64_t)>& to) {
    maps.push_back({std::move(text), [size, stride, to](std::int64_t i) {
                      const std::int64_t along = i / stride % size;
                      return i + (std::clamp<std::int64_t>(to(along), 0, size - 1) - along) * stride;
                    }});
  };
  if (size < 2) return;
  add(fmt::format("of index 0 along dim {}", dim), [](std::int64_t) { return 0; });
  for (const std::int64_t delta : {-1, 1, -4, 4, -2, 2, -8, 8}) {
    if (std::abs(delta) >= size) continue;
    add(fmt::format("of the neighbour {} {} along dim {}", std::abs(delta), delta > 0 ? "further" : "before",
                    dim),
        [delta](std::int64_t along) { return along + delta; });
  }
  add(fmt::format("of the last index along dim {}", dim), [size](std::int64_t) { return size - 1; });
  add(fmt::format("of the first of every four along dim {}", dim),
      [](std::int64_t along) { return along / 4 * 4; });
}

std::vector<BlockMap> block_maps(const Shape& shape) {
  std::vector<BlockMap> maps;
  if (numel(shape) < 2) return maps;
  maps.push_back({"of the first block", [](std::int64_t) { return 0; }});
  for (std::size_t dim = 0; dim < shape.size(); ++dim) add_block_maps_of_dim(maps, shape, dim);
  if (shape.size() > 1) add_block_maps_of_dim(maps, {numel(shape)}, 0);
  if (shape.size() == 2 && shape[0] > 1 && shape[1] > 1) {
    maps.push_back({"at the strides of rows for columns, as in a transposed tensor",
                    strided_in_order(shape, {1, 0}).from});
    if (shape[0] != shape[1]) maps.push_back({"of a transposed tensor", dims_reordered(shape, {1, 0}).from});
  }
  return maps;
}

/// The parameter tensors of one shape: all together, and each alone.
std::vector<std::vector<std::size_t>> sets_of_parameters(const Case& test_case) {
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (!is_parameter(*specs[k]) || numel(specs[k]->shape) < 2) continue;
    std::vector<std::size_t> together;
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (is_parameter(*specs[j]) && specs[j]->shape == specs[k]->shape) together.push_back(j);
    }
    if (together.size() > 1 && together.front() == k) sets.insert(sets.begin(), together);
    sets.push_back({k});
  }
  return sets;
}

std::string names_of(const Case& test_case, const std::vector<std::size_t>& inputs) {
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  std::string names;
  for (const std::size_t input : inputs) names += (names.empty() ? "" : " and ") + specs[input]->name;
  return names;
}

void use_blocks(Point& point, const std::vector<std::size_t>& inputs,
                const std::function<std::int64_t(std::int64_t)>& from) {
  for (const std::size_t input : inputs) {
    point.inputs[input] = gathered(point.inputs[input], from, [](std::int64_t) { return 0.0; });
  }
}

// --- terms -----------------------------------------------------------------------------------------------

/// Indices along a dim that a sum may leave out.
struct Part {
  std::string text;
  std::function<bool(std::int64_t)> has;
};

/// Halves that a reduction loses with a step of its tree, or with one of two workers: the first half, and
/// every second block.
void add_halves(std::vector<Part>& parts, std::int64_t size) {
  const std::int64_t half = size / 2;
  if (size >= 4) {
    parts.push_back({fmt::format("left out the first half: they began at {} of {}", half, size),
                     [half](std::int64_t i) { return i < half; }});
  }
  for (std::int64_t block = 2; block <= 64 && 4 * block <= size; block *= 2) {
    for (const std::int64_t lost : {1, 0}) {
      parts.push_back({fmt::format("left out half: the {} of every two blocks of {}",
                                   lost == 1 ? "second" : "first", block),
                       [block, lost](std::int64_t i) { return i / block % 2 == lost; }});
    }
  }
}

std::vector<Part> parts_of(std::int64_t size) {
  std::vector<Part> parts;
  std::vector<std::int64_t> ends;
  const auto add_end = [&](std::int64_t end) {
    if (end <= 0 || end >= size || std::ranges::find(ends, end) != ends.end()) return;
    ends.push_back(end);
    parts.push_back({fmt::format("{}stopped at {} of {}",
                                 2 * end == size ? "left out the second half: they " : "", end, size),
                     [end](std::int64_t i) { return i >= end; }});
  };
  for (const std::int64_t unit : {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048})
    add_end((size - 1) / unit * unit);
  for (const std::int64_t missing : {1, 2, 3, 4, 8, 16, 32, 64}) add_end(size - missing);
  add_end(size / 2);
  for (const std::int64_t first : {1, 4, 8, 16}) {
    if (first < size)
      parts.push_back({fmt::format("began at {}", first), [first](std::int64_t i) { return i < first; }});
  }
  add_halves(parts, size);
  for (const std::int64_t lane : {1, 0}) {
    if (size > 2) {
      parts.push_back(
          {fmt::format("left out {} of every two", lane), [lane](std::int64_t i) { return i % 2 == lane; }});
    }
  }
  for (const std::int64_t lane : {3, 0, 1, 2}) {
    if (size > 4) {
      parts.push_back(
          {fmt::format("left out {} of every four", lane), [lane](std::int64_t i) { return i % 4 == lane; }});
    }
  }
  return parts;
}

Counterfactual without(const Case& test_case, std::size_t input, std::string text,
                       const std::function<bool(std::int64_t)>& lacks, bool as_zero = false) {
  const Case* of = &test_case;
  const bool is_factor = as_zero || is_parameter(*input_specs(test_case)[input]);
  return {ErrorKind::Accumulation, std::move(text), [of, input, lacks, is_factor](Point& point) {
            HostTensor& tensor = point.inputs[input];
            for (std::int64_t i = 0; i < tensor.numel(); ++i) {
              if (lacks(i)) set_element(tensor, i, is_factor ? 0 : zero_of_input(*of, point, input, i));
            }
          }};
}

void add_missing_parts(Changes& changes, const Case& test_case, std::size_t input) {
  const TensorSpec& spec = *input_specs(test_case)[input];
  const bool has_zero_point = spec.dtype == DType::I8 && !spec.constant;
  // A dim of rows or batches of data is not summed over.
  const std::size_t first_dim = spec.constant || is_parameter(spec) ? 0 : 1;
  for (std::size_t dim = spec.shape.size(); dim-- > first_dim;) {
    const std::int64_t size = spec.shape[dim], stride = stride_of(spec.shape, dim);
    for (const Part& part : parts_of(size)) {
      const auto is_left_out = [part, size, stride](std::int64_t i) { return part.has(i / stride % size); };
      changes.push_back(without(test_case, input,
                                fmt::format("sums over dim {} of {} {}", dim, spec.name, part.text),
                                is_left_out));
      // In products whose zero point is subtracted as a sum, omitted terms are 0, not the zero point.
      if (!has_zero_point) continue;
      changes.push_back(without(test_case, input,
                                fmt::format("products over dim {} of {} {}", dim, spec.name, part.text),
                                is_left_out, true));
    }
  }
  if (spec.shape.size() != 4) return;
  const std::int64_t h = spec.shape[2], w = spec.shape[3];
  changes.push_back(without(test_case, input, fmt::format("the last taps of {} were left out", spec.name),
                            [h, w](std::int64_t i) { return i % w == w - 1 || i / w % h == h - 1; }));
  changes.push_back(without(test_case, input, fmt::format("the last tap of {} were left out", spec.name),
                            [h, w](std::int64_t i) { return i % w == w - 1 && i / w % h == h - 1; }));
}

// --- padding ---------------------------------------------------------------------------------------------

/// The value outside of an image.
enum class Outside : std::uint8_t { RealZero, Zero, Nearest, First };

/// The position of an image in a larger frame.
struct Frame {
  std::int64_t rows = 0, columns = 0;          ///< of the frame, above the image and to its left
  std::int64_t rows_end = 0, columns_end = 0;  ///< below it and to its right
  std::int64_t down = 0, right = 0;            ///< distance by which the image is moved
  Outside outside = Outside::RealZero;
};

HostTensor framed(const HostTensor& x, const Frame& by, double real_zero) {
  const Shape& from = x.shape();
  HostTensor frame(
      x.dtype(), {from[0], from[1], from[2] + by.rows + by.rows_end, from[3] + by.columns + by.columns_end});
  for (std::int64_t i = 0; i < frame.numel(); ++i) {
    const std::vector<std::int64_t> at = coordinates(frame.shape(), i);
    const std::int64_t h = at[2] - by.rows - by.down, w = at[3] - by.columns - by.right;
    const bool inside = h >= 0 && w >= 0 && h < from[2] && w < from[3];
    const bool is_first = !inside && by.outside == Outside::First;
    const std::int64_t row = is_first ? 0 : std::clamp<std::int64_t>(h, 0, from[2] - 1);
    const std::int64_t column = is_first ? 0 : std::clamp<std::int64_t>(w, 0, from[3] - 1);
    const std::int64_t place = ((at[0] * from[1] + at[1]) * from[2] + row) * from[3] + column;
    const bool takes = inside || by.outside == Outside::Nearest || is_first;
    set_element(frame, i, takes ? x.at(place) : by.outside == Outside::Zero ? 0 : real_zero);
  }
  return frame;
}

/// Whether padding is [h, w] or [top, left, bottom, right].
bool has_padding(const Params& params) {
  if (!params.has("padding")) return false;
  const auto* sides = std::get_if<std::vector<std::int64_t>>(&params.at("padding"));
  return sides != nullptr && (sides->size() == 2 || sides->size() == 4);
}

/// The padding of a convolution's parameters becomes a part of its image.
Counterfactual in_frame(const Case& test_case, ErrorKind kind, std::string text, Frame by) {
  const Case* of = &test_case;
  return {kind, std::move(text), [of, by](Point& point) {
            Frame frame = by;
            const std::vector<std::int64_t> sides = point.params.ints("padding");
            frame.rows = sides[0];
            frame.columns = sides[1];
            frame.rows_end = sides[sides.size() - 2];
            frame.columns_end = sides[sides.size() - 1];
            point.inputs[0] = framed(point.inputs[0], frame, zero_of_input(*of, point, 0, 0));
            point.params.set("padding", std::vector<std::int64_t>{0, 0});
            point.params.set("H", point.params.integer("H") + frame.rows + frame.rows_end);
            point.params.set("W", point.params.integer("W") + frame.columns + frame.columns_end);
          }};
}

/// Padding holds the zero point, and the zero point is not subtracted.
Counterfactual zero_point_kept(const Case& test_case) {
  Counterfactual framed =
      in_frame(test_case, ErrorKind::ZeroPoint, "the zero point of x were not subtracted", {});
  framed.change = [in_its_frame = framed.change](Point& point) {
    in_its_frame(point);
    if (point.params.has("x") && std::holds_alternative<QParams>(point.params.at("x")))
      point.params.set("x", QParams{point.params.qparams("x").scale, 0});
  };
  return framed;
}

bool is_convolution(const Point& point) {
  return !point.inputs.empty() && point.inputs[0].shape().size() == 4 && has_padding(point.params) &&
         point.params.has("H") && point.params.has("W");
}

// --- misread inputs --------------------------------------------------------------------------------------

Counterfactual read_as(const Case& test_case, std::size_t input, ErrorKind kind, std::string text,
                       std::function<std::int64_t(std::int64_t)> from) {
  const Case* of = &test_case;
  return {kind, std::move(text), [of, input, from = std::move(from)](Point& point) {
            const auto zero = [&](std::int64_t i) { return zero_of_input(*of, point, input, i); };
            point.inputs[input] = gathered(point.inputs[input], from, zero);
          }};
}

Counterfactual with_bytes(std::size_t input, ErrorKind kind, std::string text,
                          std::function<double(double)> value_of) {
  return {kind, std::move(text), [input, value_of = std::move(value_of)](Point& point) {
            HostTensor& tensor = point.inputs[input];
            for (std::int64_t i = 0; i < tensor.numel(); ++i) set_element(tensor, i, value_of(tensor.at(i)));
          }};
}

/// Ways to misread a byte that holds two 4-bit values.
void add_nibbles(Changes& changes, std::size_t input, const std::string& name) {
  const auto add = [&](ErrorKind kind, const std::string& text, unsigned (*misread)(unsigned)) {
    changes.push_back(with_bytes(input, kind, text, [misread](double byte) {
      return static_cast<double>(misread(static_cast<unsigned>(byte)));
    }));
  };
  add(ErrorKind::Packing, "the nibbles of " + name + " were exchanged",
      [](unsigned bits) { return bits >> 4 | (bits & 15U) << 4; });
  add(ErrorKind::Packing, "the low nibble of each byte of " + name + " were both",
      [](unsigned bits) { return (bits & 15U) * 0x11U; });
  add(ErrorKind::Packing, "the high nibble of each byte of " + name + " were both",
      [](unsigned bits) { return (bits >> 4) * 0x11U; });
  add(ErrorKind::Sign, "the nibbles of " + name + " had another sign bit",
      [](unsigned bits) { return bits ^ 0x88U; });
}

std::size_t tensor_of_input(const Case& test_case, std::size_t input) {
  return static_cast<std::size_t>(input_specs(test_case)[input] - test_case.tensors->data());
}

void add_misreadings(Changes& changes, const Case& test_case, std::size_t input) {
  const TensorSpec& spec = *input_specs(test_case)[input];
  if (spec.dtype == DType::U8 && spec.domain.role == FillRole::Data) add_nibbles(changes, input, spec.name);
  changes.push_back(
      with_bytes(input, ErrorKind::Sign, spec.name + " were negated", [](double value) { return -value; }));
  const Form form = test_case.forms[tensor_of_input(test_case, input)];
  // Eight values along K are packed into a word, so its halves are four apart.
  const ElementMap halves = exchanged(spec.shape, spec.shape.size() - 1, 4, ElementMap::Kind::Lanes);
  changes.push_back(read_as(test_case, input, ErrorKind::Packing,
                            "the halves of every eight values of " + spec.name + " were exchanged",
                            halves.from));
  for (const std::int64_t group : {1, 2, 4, 8}) {
    const ElementMap map = middle_exchanged(spec.shape, spec.shape.size() - 1, group);
    if (4 * group > spec.shape.back()) continue;
    changes.push_back(read_as(test_case, input, ErrorKind::Packing,
                              "each value of " + spec.name + " were " + map.text, map.from));
  }
  for (const ElementMap& map : likely_maps(spec.shape, spec.dtype, form)) {
    // Nibbles are exchanged with those one or two bytes away.
    changes.push_back(read_as(test_case, input, kind_of(map.kind),
                              "each value of " + spec.name + " were " + map.text, map.from));
  }
}

}  // namespace

Changes other_blocks(const Case& test_case, const Point& point) {
  Changes changes;
  for (const std::vector<std::size_t>& inputs : sets_of_parameters(test_case)) {
    for (const BlockMap& map : block_maps(point.inputs[inputs.front()].shape())) {
      changes.push_back({ErrorKind::Block, names_of(test_case, inputs) + " were those " + map.text,
                         [inputs, from = map.from](Point& at) { use_blocks(at, inputs, from); }});
    }
  }
  return changes;
}

Changes missing_terms(const Case& test_case, const Point&) {
  Changes changes;
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (specs[k]->name != "bias") continue;
    changes.push_back(without(test_case, k, "the bias were left out", [](std::int64_t) { return true; }));
    changes.push_back(
        with_bytes(k, ErrorKind::Sign, "the bias were negated", [](double value) { return -value; }));
  }
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (specs[k]->domain.role != FillRole::ZeroPoint && specs[k]->name != "bias")
      add_missing_parts(changes, test_case, k);
  }
  return changes;
}

Changes other_padding(const Case& test_case, const Point& point) {
  Changes changes;
  if (!is_convolution(point)) return changes;
  const auto add = [&](ErrorKind kind, std::string text, const Frame& by) {
    changes.push_back(in_frame(test_case, kind, std::move(text), by));
  };
  const std::vector<std::int64_t> sides = point.params.ints("padding");
  const std::int64_t rows = sides[0], columns = sides[1];
  if (std::ranges::any_of(sides, [](std::int64_t side) { return side > 0; })) {
    if (is_integer(input_specs(test_case)[0]->dtype))
      add(ErrorKind::Edge, "the padding were 0, not the zero point of x", {.outside = Outside::Zero});
    add(ErrorKind::Edge, "the padding were the nearest pixels", {.outside = Outside::Nearest});
    add(ErrorKind::Edge, "the padding were the first pixel", {.outside = Outside::First});
    changes.push_back(zero_point_kept(test_case));
  }
  if (rows > 0 || columns > 0) {  // padding below and to the right moves nothing
    add(ErrorKind::Index, "no rows were padding", {.down = -rows});
    add(ErrorKind::Index, "no columns were padding", {.right = -columns});
    add(ErrorKind::Index, "paddings were exchanged", {.down = columns - rows, .right = rows - columns});
  }
  add(ErrorKind::Index, "x were read one column further", {.right = -1});
  add(ErrorKind::Index, "x were read one column before", {.right = 1});
  add(ErrorKind::Index, "x were read one row further", {.down = -1});
  add(ErrorKind::Index, "x were read one row before", {.down = 1});
  return changes;
}

Changes misread_inputs(const Case& test_case, const Point& point) {
  Changes changes;
  for (std::size_t k = 0; k < point.inputs.size(); ++k) {
    if (!is_parameter(*input_specs(test_case)[k])) add_misreadings(changes, test_case, k);
  }
  return changes;
}

std::optional<Explanation> explain_by_any_block(const WrongOutput& output, ReferenceProbe& probe) {
  constexpr std::int64_t most_blocks = 64;
  if (!probe.can_afford(1)) return std::nullopt;
  const Point here = probe.here();
  for (const std::vector<std::size_t>& inputs : sets_of_parameters(output.test_case())) {
    const std::int64_t blocks = here.inputs[inputs.front()].numel();
    if (blocks > most_blocks || !probe.can_afford(static_cast<double>(blocks))) continue;
    std::vector<HostTensor> by_block;
    for (std::int64_t block = 0; block < blocks; ++block) {
      Point other = here;
      use_blocks(other, inputs, [block](std::int64_t) { return block; });
      if (auto answer = probe.ask(other)) by_block.push_back(std::move(*answer));
    }
    const auto explained = std::ranges::count_if(output.wrong(), [&](std::int64_t i) {
      return std::ranges::any_of(by_block,
                                 [&](const HostTensor& answer) { return output.explains(i, answer.at(i)); });
    });
    const auto count = static_cast<double>(explained);
    const double by_chance = count * std::log2(static_cast<double>(blocks));
    if (output.evidence_bits(count, 1) - by_chance < least_bits) continue;
    auto found =
        if_enough({ErrorKind::Block, names_of(output.test_case(), inputs) + " are those of other blocks",
                   count / static_cast<double>(output.wrong().size())});
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<HostTensor> zeros_of_output(const Case& test_case, ReferenceProbe& probe) {
  if (!probe.can_afford(1)) return std::nullopt;
  Point point = probe.here();
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (is_parameter(*specs[k]) || specs[k]->constant || specs[k]->domain.role != FillRole::Data) continue;
    for (std::int64_t i = 0; i < point.inputs[k].numel(); ++i)
      set_element(point.inputs[k], i, zero_of_input(test_case, point, k, i));
  }
  return probe.ask(point);
}

}  // namespace assay
