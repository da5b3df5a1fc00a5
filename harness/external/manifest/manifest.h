#pragma once

#include "harness/base/error.h"
#include "harness/device/device_info.h"
#include "harness/external/expression/expression.h"
#include "harness/op/op.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay::external {

std::string place_text(const SourceLocation& where);  ///< "FILE:LINE:COLUMN"

/// An expression and the place where its text begins in the manifest.
struct PlacedExpression {
  Expression expression = Expression::of(0);
  SourceLocation where;

  std::string place() const;  ///< "FILE:LINE:COLUMN"
  /// Throws Error "FILE:LINE:COLUMN: in 'EXPRESSION': ...".
  std::int64_t evaluate(const Lookup& lookup) const;
  Number evaluate_number(const Lookup& lookup) const;
};

/// A dtype, or the choice parameter that has its name.
using DTypeOrParam = std::variant<DType, std::string>;

/// The shape parameter that a tensor has as its shape, or an expression for each dim.
using ShapeOrParam = std::variant<std::string, std::vector<PlacedExpression>>;

/// How far a bounded output may be from the reference: abs + rel * |expected| + ulp * (the distance of floats
/// at expected), and what the reference adds to it.
struct OutputTolerance {
  double abs = 0, rel = 0, ulp = 0;
  /// For a reference that tells an error for a unit error of 1 (Expected::magnitude): the unit error of the
  /// op's kernels.
  std::optional<double> unit;
  std::string reason;
};

/// What kernels do with a tensor: read it, write it, or both (an output with a content before).
enum class TensorRole : std::uint8_t { Input, Output, InOut };

struct DeclaredTensor {
  std::string name;
  TensorRole role = TensorRole::Input;
  bool constant = false;
  DTypeOrParam dtype;
  ShapeOrParam shape;
  std::vector<Form> forms;
  FillDomain domain;
  std::optional<PlacedExpression> domain_lo, domain_hi;  ///< in place of the domain's ends
  bool has_range = false;  ///< the manifest says where the domain ends, which may be at 0
  OutputClass output_class = OutputClass::Exact;
  OutputTolerance tolerance;
  std::string constant_because, copy_because, ends_because;

  bool is_output() const { return role != TensorRole::Input; }
};

/// The text of a #define: what an expression gives, the same text always, or one for each word of a choice.
struct DeclaredDefine {
  std::string name;
  std::variant<PlacedExpression, std::string, std::pair<std::string, std::map<std::string, std::string>>>
      value;
};

struct NamedExpression {
  std::string name;
  PlacedExpression value;
};

/// What is bound at a place of a kernel: the tensor or scratch of that name.
struct DeclaredBinding {
  std::string place, resource;
};

struct DeclaredDispatch {
  SourceLocation where;
  std::string label, shader;
  DispatchRole role = DispatchRole::Op;
  std::optional<PlacedExpression> when;
  std::vector<PlacedExpression> workgroups;  ///< up to three; others are 1
  std::vector<PlacedExpression> local_size;  ///< the same; none: the kernel says it
  std::vector<NamedExpression> constants, push, uniforms;
  std::vector<DeclaredBinding> bindings;
  std::vector<DeclaredDefine> defines;
  std::optional<PlacedExpression> subgroup_size;
};

struct DeclaredScratch {
  std::string name;
  DTypeOrParam dtype;
  std::vector<PlacedExpression> shape;
  bool is_zero_between_runs = false;  ///< Scratch::is_zero_between_runs
};

/// Points that no device can run.
struct DeclaredExclusion {
  PlacedExpression when;
  std::string because;
};

struct DeclaredImpl {
  std::string name, summary;
  Ceiling ceiling = Ceiling::Fp32;
  std::vector<Tunable> tunables;
  std::vector<DeclaredExclusion> exclusions;
  std::vector<DeclaredScratch> scratch;
  std::vector<DeclaredDispatch> dispatches;
};

/// The value that a parameter of another op gets: a parameter of this op or a word of a choice, an
/// expression, one for each entry of a shape or list, or scale and zero point.
struct DeclaredArgument {
  struct Quantization {
    PlacedExpression scale, zero_point;
  };
  std::string param;
  SourceLocation where;
  std::variant<std::string, PlacedExpression, std::vector<PlacedExpression>, Quantization> value;
};

/// A function in Python that answers.
struct DeclaredPython {
  std::filesystem::path file;  ///< below the manifest's folder
  std::string function;
};

/// An op of assay whose reference answers.
struct DeclaredOtherOp {
  std::string op;
  SourceLocation where;  ///< of its name
  std::vector<DeclaredArgument> with;
  std::map<std::string, std::string> tensors;  ///< this op's tensor by the other's name, if they differ
};

/// Each case brings the answers.
struct DeclaredByCases {};

using DeclaredReference = std::variant<DeclaredPython, DeclaredOtherOp, DeclaredByCases>;

/// An op as its manifest declares it.
struct Manifest {
  std::filesystem::path file, folder;
  std::string text_hash;  ///< of the file
  std::string op, summary;
  int version = 1;
  std::vector<ParamSpec> params;
  std::vector<DeclaredTensor> tensors;
  std::optional<PlacedExpression> operations, bytes_read, bytes_written;
  DeclaredReference reference;
  std::vector<std::filesystem::path> include_folders;
  std::vector<DeclaredImpl> impls;
};

}  // namespace assay::external
