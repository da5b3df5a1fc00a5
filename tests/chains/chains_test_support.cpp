#include "tests/chains/chains_test_support.h"

#include "harness/cases/expansion/load.h"
#include "harness/chain/chain.h"
#include "ops/registry.h"
#include "tests/faults/bench.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace assay::test {
namespace {

using Forms = std::set<std::string>;
using Sizes = std::array<std::int64_t, 4>;

const Forms& forms_of_any_int8() {
  static const Forms forms{"buffer/4W4C", "buffer/4C", "buffer/4C1W", "buffer/4W", "buffer/4H4W"};
  return forms;
}

const Forms& forms_of_convolutions() {
  static const Forms forms{"buffer/4W4C", "buffer/4C", "buffer/4C1W"};
  return forms;
}

const Forms& forms_of_shuffles() {
  static const Forms forms{"buffer/4W4C", "buffer/4C1W"};
  return forms;
}

const Forms& forms_of_floats() {
  static const Forms forms{"buffer/WP", "buffer/CP", "texture3d/CP"};
  return forms;
}

struct NetTensor {
  std::string name;
  Sizes sizes{};
  bool is_float = false;
  bool enters = false;
  int depth = 0;    ///< convolutions before it: its scale grows with each
  int readers = 0;  ///< nodes
  Forms forms;      ///< those that all who may decide its outer form know
};

/// Builds the text of one net.
class NetBuilder {
 public:
  NetBuilder(std::uint64_t seed, const NetLimits& limits) : random_(seed) {
    const std::size_t inputs = 1 + below(2);
    const Sizes sizes{one_of<std::int64_t>({1, 1, 2}), one_of<std::int64_t>({4, 4, 8, 6}),
                      one_of<std::int64_t>({4, 5, 6}), one_of<std::int64_t>({4, 6, 7})};
    for (std::size_t i = 0; i < inputs; ++i) add_input(sizes);
    const std::size_t nodes = limits.fewest_nodes + below(limits.most_nodes - limits.fewest_nodes + 1);
    while (lines_.size() < nodes) add_node();
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].enters && tensors_[i].readers == 0) clamp(i);
    }
  }

  std::string text(std::uint64_t seed) {
    for (std::size_t i = lines_.size(); i > 1; --i) std::swap(lines_[i - 1], lines_[below(i)]);
    choose_leaving();
    const std::vector<std::string> forms = outer_forms();
    return fmt::format(
        "chain: net{}\ntensors:\n{}\nnodes:\n{}\noutputs: [{}]\ncases:\n"
        "  - name: one\n    impl: {{each: [naive, greedy, optimal]}}\n    forms: {{{}}}\n",
        seed, fmt::join(inputs_, "\n"), fmt::join(lines_, "\n"), fmt::join(leaving_, ", "),
        fmt::join(forms, ", "));
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + below(all.size()));
  }

  void add_input(const Sizes& sizes) {
    const std::string name = fmt::format("in{}", tensors_.size());
    inputs_.push_back(
        fmt::format("  {}: {{dtype: i8, shape: [{}], qparams: {{scale: 0.05, zero_point: {}}}}}", name,
                    fmt::join(sizes, ", "), one_of({3, -7})));
    tensors_.push_back({.name = name, .sizes = sizes, .enters = true, .forms = forms_of_any_int8()});
  }

  /// A tensor for the next node to read: most often one that nothing reads yet, so that nets grow long. None
  /// with a value per channel: of so few values a clamp may change none, and then shows nothing.
  std::size_t drawn_tensor() {
    std::vector<std::size_t> large;
    std::vector<std::size_t> unread;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].sizes[2] == 1) continue;
      large.push_back(i);
      if (tensors_[i].readers == 0) unread.push_back(i);
    }
    const std::vector<std::size_t>& from = unread.empty() || below(4) == 0 ? large : unread;
    return from[below(from.size())];
  }

  void add_node() {
    const std::size_t x = drawn_tensor();
    if (tensors_[x].is_float) return add_float_node(x);
    switch (below(14)) {
      case 0:
      case 1:
        return clamp(x);
      case 2:
        return clone(x);
      case 3:
      case 4:
      case 5:
        return add(x);
      case 6:
      case 7:
        return shuffle(x);
      case 8:
      case 9:
        return pointwise(x);
      case 10:
        return depthwise(x);
      default:
        return dequantize(x);
    }
  }

  void add_float_node(std::size_t x) {
    switch (below(6)) {
      case 0:
        return clone(x);
      case 1:
        return view(x);
      case 2:
        return permute(x);
      case 3:
        return shuffle(x);
      default:
        return quantize(x);
    }
  }

  /// Adds a node that makes a tensor like `made`, whose name is chosen here.
  void node(const std::string& op, const std::string& with, const std::vector<std::size_t>& inputs,
            const std::string& input_names, NetTensor made) {
    made.name = fmt::format("t{}", lines_.size());
    made.enters = false;
    made.readers = 0;
    std::vector<std::string> bound;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      NetTensor& input = tensors_[inputs[i]];
      input.readers += 1;
      bound.push_back(fmt::format("{}: {}", input_names[i], input.name));
      if (input.enters) keep_common(input.forms, made.forms);
    }
    lines_.push_back(
        fmt::format("  - {{name: n{}, op: {}, with: {{{}}}, inputs: {{{}}}, outputs: {{y: {}}}}}",
                    lines_.size(), op, with, fmt::join(bound, ", "), made.name));
    tensors_.push_back(std::move(made));
  }

  static void keep_common(Forms& forms, const Forms& with) {
    Forms common;
    std::ranges::set_intersection(forms, with, std::inserter(common, common.end()));
    // A dequantization makes floats and reads any int8 form.
    if (!common.empty()) forms = std::move(common);
  }

  NetTensor like(std::size_t x, const Forms& forms) const {
    NetTensor made = tensors_[x];
    made.forms = forms;
    return made;
  }

  void clamp(std::size_t x) {
    // The scale that a convolution chose is not known here.
    const bool requantizes = tensors_[x].depth == 0 && below(2) == 0;
    node("q8ta_relu", requantizes ? "y: {scale: 0.06, zero_point: -4}" : "", {x}, "x",
         like(x, forms_of_any_int8()));
  }

  void clone(std::size_t x) {
    const bool is_float = tensors_[x].is_float;
    node(is_float ? "clone" : "q8ta_clone", "", {x}, "x",
         like(x, is_float ? forms_of_floats() : forms_of_any_int8()));
  }

  /// Adds another tensor of the same sizes, or a new one with a value per channel. The sum has the qparams of
  /// `a`, which has the larger scale of the two.
  void add(std::size_t x) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (i != x && !tensors_[i].is_float && tensors_[i].sizes == tensors_[x].sizes) others.push_back(i);
    }
    if (others.empty()) {
      others.push_back(tensors_.size());
      add_input({1, tensors_[x].sizes[1], 1, 1});
    }
    std::size_t a = x;
    std::size_t b = others[below(others.size())];
    if (tensors_[b].depth > tensors_[a].depth) std::swap(a, b);
    node("q8ta_add", "alpha: 0.5", {a, b}, "ab", like(a, forms_of_any_int8()));
  }

  void shuffle(std::size_t x) {
    const bool is_float = tensors_[x].is_float;
    NetTensor made = like(x, is_float ? forms_of_floats() : forms_of_shuffles());
    if (made.sizes[1] % 4 != 0) return clone(x);
    made.sizes = {made.sizes[0], made.sizes[1] / 4, made.sizes[2] * 2, made.sizes[3] * 2};
    node(is_float ? "pixel_shuffle" : "q8ta_pixel_shuffle", "upscale_factor: 2", {x}, "x", std::move(made));
  }

  void pointwise(std::size_t x) {
    NetTensor made = like(x, forms_of_convolutions());
    made.sizes[1] = one_of<std::int64_t>({4, 6, 8});
    made.depth += 1;
    const std::string channels = fmt::format("OC: {}", made.sizes[1]);
    node("q8ta_conv2d_pw", channels, {x}, "x", std::move(made));
  }

  void depthwise(std::size_t x) {
    NetTensor made = like(x, forms_of_convolutions());
    made.depth += 1;
    node("q8ta_conv2d_dw", "kernel: [3, 3], padding: [1, 1], bias: true", {x}, "x", std::move(made));
  }

  /// What a convolution made stays in int8: no scale is known here with which to quantize it again.
  void dequantize(std::size_t x) {
    if (tensors_[x].depth > 0) return clamp(x);
    NetTensor made = like(x, forms_of_floats());
    made.is_float = true;
    node("q8ta_dequantize", "", {x}, "x", std::move(made));
  }

  void quantize(std::size_t x) {
    NetTensor made = like(x, forms_of_any_int8());
    made.is_float = false;
    node("q8ta_quantize", "y: {scale: 0.07, zero_point: -5}", {x}, "x", std::move(made));
  }

  void view(std::size_t x) {
    NetTensor made = like(x, forms_of_floats());
    std::swap(made.sizes[1], made.sizes[2]);
    const std::string shape = fmt::format("new_shape: [{}]", fmt::join(made.sizes, ", "));
    node("view", shape, {x}, "x", std::move(made));
  }

  void permute(std::size_t x) {
    NetTensor made = like(x, forms_of_floats());
    std::swap(made.sizes[2], made.sizes[3]);
    node("permute", "dims: [0, 1, 3, 2]", {x}, "x", std::move(made));
  }

  /// Tensors that leave: those that nothing reads, and some of the others.
  void choose_leaving() {
    for (const NetTensor& tensor : tensors_) {
      if (!tensor.enters && (tensor.readers == 0 || below(8) == 0)) leaving_.push_back(tensor.name);
    }
  }

  /// Forms for some of the tensors that enter or leave; the others have their op's default.
  std::vector<std::string> outer_forms() {
    std::vector<std::string> forms;
    for (const NetTensor& tensor : tensors_) {
      const bool is_outer = tensor.enters || std::ranges::count(leaving_, tensor.name) > 0;
      if (!is_outer || below(3) == 0) continue;
      const auto form =
          std::next(tensor.forms.begin(), static_cast<std::ptrdiff_t>(below(tensor.forms.size())));
      forms.push_back(fmt::format("{}: {}", tensor.name, *form));
    }
    return forms;
  }

  std::mt19937_64 random_;
  std::vector<NetTensor> tensors_;
  std::vector<std::string> inputs_;  ///< lines of the file
  std::vector<std::string> lines_;   ///< the same, of nodes
  std::vector<std::string> leaving_;
};

}  // namespace

namespace fs = std::filesystem;

const Registry& tree_ops() {
  static const Registry made = ops::registry();
  return made;
}

std::vector<Case> load(const fs::path& path, const Registry& ops) {
  const std::vector<fs::path> files{path};
  LoadResult loaded = load_cases(files, ops);
  EXPECT_TRUE(loaded.errors.empty()) << (loaded.errors.empty() ? "" : to_string(loaded.errors.front()));
  return std::move(loaded.cases);
}

std::vector<Case> load_text(const std::string& text, const Registry& ops) {
  const TemporaryFolder folder;
  return load(folder.write("chain.yaml", text), ops);
}

const Case& named(const std::vector<Case>& cases, const std::string& name, const std::string& impl) {
  const auto found = std::ranges::find_if(
      cases, [&](const Case& one) { return one.name == name && one.impl->name == impl; });
  EXPECT_NE(found, cases.end()) << name << ' ' << impl;
  return *found;
}

chain::LayoutPlan plan_of(const Case& test_case, chain::PlanMode mode) {
  return plan_layouts(*test_case.op->chain, resolve(*test_case.op->chain, test_case.params), test_case.forms,
                      faults::Bench::shared().device().info(), mode);
}

Case with_timed_program(Case test_case, const std::function<void(Program&)>& change) {
  const auto op = std::make_shared<Op>(*test_case.op);
  Impl& impl = *std::ranges::find(op->impls, test_case.impl->name, &Impl::name);
  impl.build = [right = impl.build, change](const BuildContext& context) {
    Program program = right(context);
    change(program);
    return program;
  };
  test_case.op = op.get();
  test_case.impl = &impl;
  test_case.own_op = op;
  return test_case;
}

Dispatch& dispatch_of(Program& program, const std::string& node) {
  return *std::ranges::find_if(
      program.dispatches, [&](const Dispatch& dispatch) { return dispatch.label.starts_with(node + "/"); });
}

Record run(const Case& test_case, Mode mode) {
  return faults::Bench::shared().run(test_case, mode);
}

std::string random_net(std::uint64_t seed, const NetLimits& limits) {
  return NetBuilder(seed, limits).text(seed);
}

}  // namespace assay::test
