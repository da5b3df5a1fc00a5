#pragma once

#include "harness/engine/diagnosis/explanation.h"
#include "harness/engine/diagnosis/reference_probe.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A case whose parameters or inputs differ in one thing: where its reference gives what was got, that thing
/// is what the kernel does differently.
struct Counterfactual {
  ErrorKind kind = ErrorKind::Index;
  std::string text;                    ///< "the zero point of y were 0": goes after "as if"
  std::function<void(Point&)> change;  ///< of a point that is the case's
};

// Each of these lists the likely changes of one kind. `point`: the case's.

/// Zero points, of parameters and tensors: 0, one off, negated, another parameter's.
std::vector<Counterfactual> other_zero_points(const Case& test_case, const Point& point);
/// Scales, of parameters and tensors: 1, doubled, halved, a step of the range off, inverted, another
/// parameter's; numbers: 1, 0, negated.
std::vector<Counterfactual> other_scales(const Case& test_case, const Point& point);
/// Each scale, of parameters and tensors, times a factor.
std::vector<Counterfactual> scaled_by(const Case& test_case, const Point& point, double factor);
/// Scales and zero points in tensors: those of the first, the last, a neighbouring block.
std::vector<Counterfactual> other_blocks(const Case& test_case, const Point& point);
/// The activation, which is left out or another.
std::vector<Counterfactual> other_activations(const Case& test_case, const Point& point);
/// Images in padding of something else than real zero.
std::vector<Counterfactual> other_padding(const Case& test_case, const Point& point);
/// Strides, dilations and paddings: swapped, or not there along one axis.
std::vector<Counterfactual> other_geometry(const Case& test_case, const Point& point);
/// Inputs that lack their last, first or every fourth values along a dim; bias left out.
std::vector<Counterfactual> missing_terms(const Case& test_case, const Point& point);
/// Inputs read from neighbouring, exchanged or transposed places; nibbles exchanged; signs turned.
std::vector<Counterfactual> misread_inputs(const Case& test_case, const Point& point);

/// All of them, the likeliest first.
std::vector<Counterfactual> counterfactuals(const Case& test_case, const Point& point);

/// How well a change explains a wrong output.
struct CounterfactualResult {
  Explanation explanation;
  double right = 0;  ///< share of the right elements that would be right too
};

/// The change that explains most, as far as the probe can afford to try them.
std::optional<CounterfactualResult> explain_by_counterfactuals(const WrongOutput& output,
                                                               ReferenceProbe& probe);

/// Each wrong element is right by the parameters of some other block: of scales and zero points in tensors of
/// at most some dozens of blocks.
std::optional<Explanation> explain_by_any_block(const WrongOutput& output, ReferenceProbe& probe);

/// Integers that a change of a scale by one part in 10^5, up or down, makes what was got: they are rounded
/// from exact ties.
std::optional<Explanation> explain_ties(const WrongOutput& output, ReferenceProbe& probe);

/// What each element is where all data are zero; nothing where that cannot be afforded.
std::optional<HostTensor> zeros_of_output(const Case& test_case, ReferenceProbe& probe);

}  // namespace assay
