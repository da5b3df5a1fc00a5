#include "harness/cases/tests/bad_input_test_support.h"

#include <ostream>
#include <sstream>

namespace assay::test {

std::ostream& operator<<(std::ostream& stream, const BadInput& input) {
  return stream << input.name;
}

std::string name_of_bad_input(const testing::TestParamInfo<BadInput>& info) {
  return info.param.name;
}

std::string with(std::string text, std::string_view old, std::string_view replacement) {
  const std::size_t at = text.find(old);
  if (at == std::string::npos) {
    ADD_FAILURE() << "there is no " << old;
    return text;
  }
  return text.replace(at, old.size(), replacement);
}

void BadInputTest::expect_message(const BadInput& input) {
  const TemporaryFolder folder;
  std::istringstream lines(input.files);
  std::string name = "case.yaml", text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("=== ")) {
      folder.write(name, text);
      name = line.substr(4);
      text.clear();
    } else {
      text += line + '\n';
    }
  }
  folder.write(name, text);
  const std::filesystem::path files[] = {folder.path() / "case.yaml"};
  const LoadResult result = load_cases(files, fake_ops());
  EXPECT_EQ(messages(folder, result.errors), input.message);
  EXPECT_EQ(result.cases.size(), input.cases);
}

}  // namespace assay::test
