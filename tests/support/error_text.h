#pragma once

#include "harness/base/error.h"

#include <string>

namespace assay::test {

/// The message of the Error that `action` throws, "" when it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace assay::test
