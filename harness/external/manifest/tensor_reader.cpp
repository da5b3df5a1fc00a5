#include "harness/external/manifest/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::external {
namespace {

using cases::diagnose;
using cases::Problem;

/// Reads one tensor.
class TensorReader {
 public:
  TensorReader(const Node::Entry& entry, const std::vector<ParamSpec>& params, const Scope& scope,
               bool has_class_elsewhere)
      : key_(*entry.key),
        map_(*entry.value),
        params_(params),
        scope_(scope),
        has_class_elsewhere_(has_class_elsewhere) {}

  DeclaredTensor read() {
    check_name(key_, "a tensor");
    tensor_.name = key_.text;
    const bool is_param = std::ranges::find(params_, tensor_.name, &ParamSpec::name) != params_.end();
    if (is_param) {
      throw Problem(diagnose(
          key_,
          fmt::format("'{}' is a parameter, too: expressions could not tell them apart", tensor_.name)));
    }
    if (!map_.is_map()) cases::wrong_type(map_, {&key_, key_.text}, "a map with 'dtype' and 'shape'");
    cases::Problems problems;
    problems.attempt([&] { read_role(); });
    problems.attempt([&] { cases::check_keys(map_, keys()); });
    problems.attempt([&] { tensor_.dtype = dtype_of(entry("dtype"), scope_); });
    problems.attempt([&] { read_shape(entry("shape")); });
    problems.attempt([&] { read_forms(); });
    problems.attempt([&] { read_domain(); });
    problems.settle();
    if (tensor_.is_output()) read_output();
    if (const Node::Entry* constant = map_.find_entry("constant"))
      tensor_.constant = cases::to_boolean(*constant->value, {constant->key, "constant"});
    return std::move(tensor_);
  }

 private:
  std::string what() const { return fmt::format("the tensor '{}'", key_.text); }
  const Node::Entry& entry(const std::string& key) const { return required(map_, key, key_, what()); }

  std::vector<std::string> keys() const {
    std::vector<std::string> all{"role", "dtype", "shape", "domain"};
    if (tensor_.role != TensorRole::InOut) all.emplace_back("forms");
    if (!tensor_.is_output()) {
      all.emplace_back("constant");
      return all;
    }
    all.insert(all.end(), {"class", "tolerance", "constant_because", "copy_because", "ends_because"});
    return all;
  }

  void read_role() {
    const Node::Entry* role = map_.find_entry("role");
    if (role == nullptr) return;
    const std::string& text = cases::to_text(*role->value, {role->key, "role"});
    static const std::vector<std::string> known{"input", "output", "inout"};
    const auto found = std::ranges::find(known, text);
    if (found == known.end()) throw cases::unknown_name(*role->value, "role", text, known);
    tensor_.role = static_cast<TensorRole>(found - known.begin());
  }

  void read_shape(const Node::Entry& given) {
    const Node& value = *given.value;
    if (value.is_scalar()) {
      const std::string& name = cases::to_text(value, {given.key, "shape"});
      const auto param = std::ranges::find(params_, name, &ParamSpec::name);
      std::vector<std::string> shapes;
      for (const ParamSpec& one : params_) {
        if (one.kind == ParamSpec::Kind::Shape) shapes.push_back(one.name);
      }
      if (param == params_.end() || param->kind != ParamSpec::Kind::Shape)
        throw cases::unknown_name(value, "shape parameter", name, shapes);
      tensor_.shape = name;
      return;
    }
    if (!value.is_list() || value.items.empty())
      cases::wrong_type(value, {given.key, "shape"}, "a shape parameter, or a list of sizes and expressions");
    std::vector<PlacedExpression> dims;
    cases::Problems problems;
    for (const Node* item : value.items)
      problems.attempt([&] { dims.push_back(expression_of(*item, {given.key, "shape"}, scope_)); });
    problems.settle();
    tensor_.shape = std::move(dims);
  }

  void read_forms() {
    tensor_.forms = {Form{}};
    const Node::Entry* given = map_.find_entry("forms");
    if (given == nullptr) return;
    if (!given->value->is_list() || given->value->items.empty()) {
      cases::wrong_type(*given->value, {given->key, "forms"},
                        "a list of forms, the default first: [buffer/WP]");
    }
    tensor_.forms.clear();
    for (const Node* item : given->value->items) {
      const std::string& text = cases::to_text(*item, {given->key, "forms"});
      const std::optional<Form> form = parse_form(text);
      if (!form) {
        std::vector<std::string> known;
        for (const Form one : all_forms()) known.push_back(to_string(one));
        throw cases::unknown_name(*item, "form", text, known);
      }
      tensor_.forms.push_back(*form);
    }
  }

  /// An end of the domain: a number, or an expression over the parameters.
  void read_end(const Node& domain, const std::string& key, double& number,
                std::optional<PlacedExpression>& expression) const {
    const Node::Entry* end = domain.find_entry(key);
    if (end == nullptr) return;
    if (const std::optional<double> known = cases::as_number(*end->value)) {
      number = *known;
    } else {
      expression = expression_of(*end->value, {end->key, key}, scope_);
    }
  }

  void read_domain() {
    static const std::vector<std::string> keys{"role", "lo", "hi"};
    static const std::vector<std::string> roles{"data", "scale", "zero_point", "index"};
    const Node::Entry* given = map_.find_entry("domain");
    if (given == nullptr) return;
    if (!given->value->is_map())
      cases::wrong_type(*given->value, {given->key, "domain"}, "a map with 'lo' and 'hi'");
    cases::check_keys(*given->value, keys);
    read_end(*given->value, "lo", tensor_.domain.lo, tensor_.domain_lo);
    read_end(*given->value, "hi", tensor_.domain.hi, tensor_.domain_hi);
    tensor_.has_range = given->value->find_entry("hi") != nullptr;
    const bool is_known = !tensor_.domain_lo && !tensor_.domain_hi;  // else it is checked at each point
    if (is_known && tensor_.domain.lo > tensor_.domain.hi) {
      throw Problem(
          diagnose(*given->key, fmt::format("the domain of '{}' begins after its end", tensor_.name)));
    }
    if (const Node::Entry* role = given->value->find_entry("role")) {
      const std::string& text = cases::to_text(*role->value, {role->key, "role"});
      const auto found = std::ranges::find(roles, text);
      if (found == roles.end()) throw cases::unknown_name(*role->value, "role of values", text, roles);
      tensor_.domain.role = static_cast<FillRole>(found - roles.begin());
    }
  }

  /// Whether the output is of floats for some choice.
  bool may_be_float() const {
    if (const auto* dtype = std::get_if<DType>(&tensor_.dtype)) return is_float(*dtype);
    const std::vector<std::string>& words = scope_.choices.at(std::get<std::string>(tensor_.dtype));
    return std::ranges::any_of(words, [](const std::string& word) { return word.starts_with('f'); });
  }

  void read_output() {
    read_class();
    read_tolerance();
    tensor_.constant_because = text_in(map_, "constant_because");
    tensor_.copy_because = text_in(map_, "copy_because");
    tensor_.ends_because = text_in(map_, "ends_because");
  }

  void read_class() {
    const Node::Entry* given = map_.find_entry("class");
    if (given != nullptr && has_class_elsewhere_)
      throw Problem(diagnose(*given->key, fmt::format("{} has the class of the op that answers", what())));
    if (given == nullptr) {
      if (may_be_float() && !has_class_elsewhere_) {
        throw Problem(diagnose(
            key_, fmt::format("{} has floats and no 'class': write `class: bounded, tolerance: {{rel: "
                              "1.0e-6, abs: 1.0e-7, reason: ...}}`, or `class: exact` if every bit "
                              "is defined",
                              what())));
      }
      return;
    }
    const std::string& text = cases::to_text(*given->value, {given->key, "class"});
    const std::vector<std::string> known{"exact", "bounded"};
    if (std::ranges::find(known, text) == known.end())
      throw cases::unknown_name(*given->value, "class", text, known);
    if (text == "bounded") tensor_.output_class = OutputClass::Bounded;
    if (text == "bounded" && map_.find("tolerance") == nullptr)
      throw Problem(diagnose(*given->key, fmt::format("{} is bounded and has no 'tolerance'", what())));
  }

  void read_tolerance() {
    std::vector<std::string> keys{"abs", "rel", "ulp", "reason"};
    if (has_class_elsewhere_) keys.emplace_back("unit");
    const Node::Entry* given = map_.find_entry("tolerance");
    if (given == nullptr) return;
    if (!has_class_elsewhere_ && tensor_.output_class != OutputClass::Bounded)
      throw Problem(diagnose(*given->key, fmt::format("{} is exact, which has no tolerance", what())));
    if (!given->value->is_map())
      cases::wrong_type(*given->value, {given->key, "tolerance"}, "a map with 'rel', 'abs' or 'ulp'");
    cases::check_keys(*given->value, keys);
    OutputTolerance& to = tensor_.tolerance;
    const std::array<std::pair<const char*, double*>, 3> parts{
        {{"abs", &to.abs}, {"rel", &to.rel}, {"ulp", &to.ulp}}};
    for (const auto& [key, value] : parts) {
      const Node::Entry* part = given->value->find_entry(key);
      if (part == nullptr) continue;
      *value = cases::to_number(*part->value, {part->key, key});
      if (*value < 0) throw Problem(diagnose(*part->value, fmt::format("'{}' must not be negative", key)));
    }
    if (const Node::Entry* unit = given->value->find_entry("unit")) {
      to.unit = cases::to_number(*unit->value, {unit->key, "unit"});
      if (*to.unit < 0) throw Problem(diagnose(*unit->value, "'unit' must not be negative"));
    }
    to.reason = text_in(*given->value, "reason");
    if (to.reason.empty()) throw Problem(diagnose(*given->key, "a tolerance needs a 'reason'"));
  }

  const Node& key_;
  const Node& map_;
  const std::vector<ParamSpec>& params_;
  const Scope& scope_;
  bool has_class_elsewhere_;
  DeclaredTensor tensor_;
};

}  // namespace

std::vector<DeclaredTensor> read_tensors(const Node::Entry& entry, const std::vector<ParamSpec>& params,
                                         const Scope& scope, bool has_class_elsewhere) {
  if (!entry.value->is_map() || entry.value->entries.empty()) {
    cases::wrong_type(*entry.value, {entry.key, "tensors"},
                      "a map of tensors by name: {x: {dtype: f32, shape: shape}}");
  }
  std::vector<DeclaredTensor> tensors;
  cases::Problems problems;
  for (const Node::Entry& one : entry.value->entries) {
    problems.attempt(
        [&] { tensors.push_back(TensorReader(one, params, scope, has_class_elsewhere).read()); });
  }
  problems.settle();
  for (const DeclaredTensor& tensor : tensors) {
    const auto bound = std::ranges::find(tensors, tensor.name + "_bound", &DeclaredTensor::name);
    if (bound != tensors.end()) {
      throw Problem(
          diagnose(*entry.key, fmt::format("'{}' is what a reference calls its bound of '{}': name that "
                                           "tensor otherwise",
                                           bound->name, tensor.name)));
    }
  }
  if (std::ranges::none_of(tensors, &DeclaredTensor::is_output))
    throw Problem(diagnose(*entry.key, "no tensor has `role: output`"));
  return tensors;
}

}  // namespace assay::external
