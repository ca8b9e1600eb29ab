#include <chrono>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"
#include "tools/numerics/comparison.hpp"
#include "tools/numerics/numerics_options.hpp"
#include "tools/numerics/report.hpp"

namespace athanor {

namespace {

class Numerics {
 public:
  Numerics(const NumericsOptions& options, const Streams& streams)
      : common_(options.common),
        streams_(streams),
        choice_(options.common.json, options.csv, streams),
        request_(numerics_request(options)),
        subjects_(numerics_subjects(options, request_, [&](const std::string& text) { note(text); })) {}

  ExitCode run() {
    choice_.print(version_line() + numerics_header(request_));
    NumericsComparison comparison(request_);
    for (const NumericsSubject& subject : subjects_) {
      if (interrupted_ = streams_.interrupted(); interrupted_) { break; }
      Progress progress(streams_, !common_.quiet);
      progress.show(fmt::format("[{}/{}] {}: {}", rows_.size() + 1, subjects_.size(), algorithm_of(subject),
                                arithmetic_of(subject)));
      rows_.push_back(comparison.run(subject));
      progress.clear();
      choice_.print(numerics_line(rows_.back()));
    }
    finish();
    return interrupted_ ? ExitCode::interrupted : ExitCode::ok;
  }

 private:
  void note(const std::string& text) {
    warnings_.push_back(text);
    if (!common_.quiet) { tell(streams_, fmt::format("note: {}", text)); }
  }

  void finish() {
    choice_.print(numerics_footer() + (interrupted_ ? "# interrupted: what follows was not run\n" : ""));
    std::vector<JsonValue> results;
    for (const NumericsRow& row : rows_) { results.push_back(numerics_json(request_, row)); }
    Manifest manifest;
    manifest.command_line = common_.command_line;
    manifest.inputs = InputsRead(common_.library.files()).fresh();
    manifest.seeds = {request_.seed};
    manifest.warnings = warnings_;
    manifest.interrupted = interrupted_;
    manifest.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    choice_.write_json([&] { return json_document(results, manifest); });
    choice_.write_csv([&] {
      const NumericsSubject none{subjects_[0].algorithm};
      return csv_document(keys_of({numerics_json(request_, NumericsRow{none, {}, {}})}), results);
    });
  }

  const CommonOptions& common_;
  const Streams& streams_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  OutputChoice choice_;
  std::vector<std::string> warnings_;
  NumericsRequest request_;
  std::vector<NumericsSubject> subjects_;
  std::vector<NumericsRow> rows_;
  bool interrupted_ = false;
};

ExitCode execute(const NumericsOptions& options, const Streams& streams) { return Numerics(options, streams).run(); }

}  // namespace

Command numerics_command() {
  return {.name = "numerics",
          .summary = "adds real numbers by each algorithm and compares the errors",
          .arguments = "",
          .explanation =
              "Runs the schedules on threads, engines in the network included, and holds what they add up against\n"
              "the exact sum: how far it is off, whether all ranks and all runs have the same bits, and which\n"
              "algorithms come to the same result. Ranks add in port order, each addition rounded to the type.\n"
              "Quantised numbers are exchanged, added up by their owners, and held against a bound as well.\n",
          .example = "athanor numerics --algorithm ring,aggregation_tree --type float16 --accumulator data,float32",
          .least_arguments = 0,
          .most_arguments = 0,
          .prepare = &prepared<NumericsOptions, &execute>};
}

}  // namespace athanor
