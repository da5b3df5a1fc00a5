#pragma once

#include <memory>

namespace assay {

/// Memory for handlers of signals on this thread while it lives, so that one runs where the thread's own
/// stack is what overflowed.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

}  // namespace assay
