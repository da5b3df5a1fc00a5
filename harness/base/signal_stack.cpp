#include "harness/base/signal_stack.h"

#include <csignal>
#include <cstddef>
#include <vector>

namespace assay {
namespace {

constexpr std::size_t stack_bytes = 64 << 10;

}  // namespace

struct SignalStack::Before {
  stack_t stack{};
  std::vector<std::byte> own = std::vector<std::byte>(stack_bytes);
};

SignalStack::SignalStack() : before_(std::make_unique<Before>()) {
  stack_t stack{};
  stack.ss_sp = before_->own.data();
  stack.ss_size = before_->own.size();
  ::sigaltstack(&stack, &before_->stack);
}

SignalStack::~SignalStack() {
  ::sigaltstack(&before_->stack, nullptr);
}

}  // namespace assay
