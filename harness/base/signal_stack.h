#pragma once

#include <memory>

namespace assay {

/// Gives signal handlers on this thread a stack of their own while it lives, so that they can run when the
/// thread's stack has overflowed.
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
