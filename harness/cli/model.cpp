#include "harness/commands/model/model.h"

#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

constexpr std::int64_t most_tokens = 1 << 20;

void declare_model(CLI::App& app, app::ModelOptions& options) {
  app::ModelCases& cases = options.cases;
  app.add_option("file", options.file,
                 "A GGUF file, a config.json of Hugging Face or a .safetensors file; weights are not read")
      ->required();
  app.add_option("--out", options.out, "The folder to write, a new one (default: the model's name)");
  app.add_option(
      "--name", cases.name,
      "The model's name, of lower-case letters, digits and underscores (default: that of the file; of a "
      "config.json or model.safetensors that of its folder)");
  app.add_option(
         "--linear", cases.linear_ops,
         "The op of the linear layers, which says how weights and activations are quantized: linear_q4gsw, "
         "linear_q4csw, linear_dq8ca_q4gsw, linear_qta8a_qga4w, linear_q8csw or q8ta_linear (repeatable)")
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--group-size", cases.group_sizes,
                 "Weights that share a scale, for ops with groups (repeatable; default: 32 and 128)")
      ->allow_extra_args(false)
      ->check(whole_number(8, most_tokens));
  app.add_option("--prompt", cases.prompts, "Tokens of a prompt (repeatable)")
      ->allow_extra_args(false)
      ->check(whole_number(1, most_tokens))
      ->capture_default_str();
  app.add_option("--context", cases.contexts, "Tokens up to and with the one that is decoded (repeatable)")
      ->allow_extra_args(false)
      ->check(whole_number(1, most_tokens))
      ->capture_default_str();
  app.add_option("--dtype", cases.dtype, "Type of the activations: f16 or f32")
      ->check(CLI::IsMember({"f16", "f32"}))
      ->capture_default_str();
}

}  // namespace

void add_model(Commands& commands) {
  commands.add<app::ModelOptions>("model", "Write the cases of a model from its file", declare_model,
                                  [](const app::ModelOptions& options, const Context& context) {
                                    return app::write_model(options, context, terminal());
                                  });
}

}  // namespace assay::cli
