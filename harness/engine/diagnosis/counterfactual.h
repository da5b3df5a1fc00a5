#pragma once

#include "harness/engine/diagnosis/evidence.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A case with one changed parameter or input. If its reference gives the values that the kernel computed,
/// the change shows what the kernel does differently.
struct Counterfactual {
  ErrorKind kind = ErrorKind::Index;
  std::string text;                    ///< "the zero point of y were 0": follows "as if"
  std::function<void(Point&)> change;  ///< changes the case's point
};

// Each of these functions lists the likely changes of one kind; `point` is the case's.

/// Other zero points in parameters and tensors: 0, off by one, negated, another parameter's.
std::vector<Counterfactual> other_zero_points(const Case& test_case, const Point& point);
/// Other scales in parameters and tensors: 1, doubled, halved, off by one step of the range, inverted,
/// another parameter's. Other numbers: 1, 0, negated.
std::vector<Counterfactual> other_scales(const Case& test_case, const Point& point);
/// Each scale in parameters and tensors, multiplied by a factor.
std::vector<Counterfactual> scaled_by(const Case& test_case, const Point& point, double factor);
/// Scales and zero points in tensors taken from the first, the last or a neighbouring block.
std::vector<Counterfactual> other_blocks(const Case& test_case, const Point& point);
/// The activation left out or replaced.
std::vector<Counterfactual> other_activations(const Case& test_case, const Point& point);
/// Images padded with something other than real zero.
std::vector<Counterfactual> other_padding(const Case& test_case, const Point& point);
/// Strides, dilations and paddings swapped, or left out along one axis.
std::vector<Counterfactual> other_geometry(const Case& test_case, const Point& point);
/// Inputs without their last, first or every fourth values along a dim; bias left out.
std::vector<Counterfactual> missing_terms(const Case& test_case, const Point& point);
/// Inputs read from neighbouring, exchanged or transposed places; nibbles exchanged; signs inverted.
std::vector<Counterfactual> misread_inputs(const Case& test_case, const Point& point);

/// All of them, the likeliest first.
std::vector<Counterfactual> counterfactuals(const Case& test_case, const Point& point);

/// How well a change explains a wrong output.
struct CounterfactualResult {
  Explanation explanation;
  double right = 0;  ///< share of the right elements that would still be right
};

/// The change that explains the most elements, among those that the probe can afford to try.
std::optional<CounterfactualResult> explain_by_counterfactuals(const WrongOutput& output,
                                                               ReferenceProbe& probe);

/// Explains wrong elements that would be right with the scale and zero point of some other block, for tensors
/// of at most a few dozen blocks.
std::optional<Explanation> explain_by_any_block(const WrongOutput& output, ReferenceProbe& probe);

/// Explains integers that become the computed ones when a scale changes by one part in 10^5, up or down: they
/// are rounded from exact ties.
std::optional<Explanation> explain_ties(const WrongOutput& output, ReferenceProbe& probe);

/// The output when all data are zero; nothing when the probe cannot afford it.
std::optional<HostTensor> zeros_of_output(const Case& test_case, ReferenceProbe& probe);

}  // namespace assay
