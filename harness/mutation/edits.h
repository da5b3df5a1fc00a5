#pragma once

#include "harness/mutation/glsl_code.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mutation {

/// A change of tokens that lie on one line.
struct Edit {
  std::string_view kind;  ///< the operator's name
  std::size_t first = 0;  ///< token
  std::size_t end = 0;    ///< the token after the last one
  std::string after;      ///< what stands there instead
};

/// The changes that operators make. Those that span lines, or lie where nothing may be changed, are left out.
class Edits {
 public:
  explicit Edits(const GlslCode& code) : code_(code) {}

  const GlslCode& code() const { return code_; }
  void replace(std::string_view kind, std::size_t first, std::size_t end, std::string after);
  void replace(std::string_view kind, std::size_t token, std::string after) {
    replace(kind, token, token + 1, std::move(after));
  }
  const std::vector<Edit>& all() const { return all_; }

 private:
  const GlslCode& code_;
  std::vector<Edit> all_;
};

// The operators, by subject: each is called for every token, and adds the changes that begin there.
void change_arithmetic(std::size_t token, Edits& edits);
void change_constants(std::size_t token, Edits& edits);
void change_calls(std::size_t token, Edits& edits);
void change_flow(std::size_t token, Edits& edits);
void change_names(std::size_t token, Edits& edits);

/// Replaces names by others of the same type: variables of the same function, and members of the same struct.
/// `included` are sources whose structs the code may use.
void change_neighbours(Edits& edits, const std::vector<std::string_view>& included);

}  // namespace assay::mutation
