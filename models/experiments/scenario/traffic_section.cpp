#include "models/experiments/scenario/traffic_section.hpp"

#include <filesystem>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/htsim_matrix.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "models/experiments/traffic.hpp"
#include "sim/file.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

using Pattern = TrafficConfig::Pattern;
using Type = FieldValue::Form::Type;

void read_endpoint(FieldValue& value, EndpointConfig& endpoint) {
  value.one_of({{Type::number, [&](FieldValue& number) { number.visit(endpoint.number); }},
                {Type::string, [&](FieldValue& text) {
                   endpoint.name = text.text().value_or("");
                   if (endpoint.name.empty()) { text.problem("unknown-endpoint", "an endpoint has a name"); }
                 }}});
  endpoint.place = value.place();
}

void read_incast(Fields& fields, TrafficConfig& traffic) {
  fields.optional_value("receiver", "An endpoint, by number or by the name of its device",
                        [&](FieldValue& value) { read_endpoint(value, traffic.receiver); });
  fields.optional_value(
      "senders", "How many that follow the receiver in rank order, or a list; absent: all others",
      [&](FieldValue& value) {
        value.one_of(
            {{Type::number,
              [&](FieldValue& count) { count.visit(traffic.sender_count.emplace(1), Range<std::uint32_t>{1}); }},
             {Type::list, [&](FieldValue& list) { list.list(traffic.senders, read_endpoint, {1}); }}});
      });
}

void visit_pair(Fields& fields, TrafficConfig::Pair& pair) {
  fields.required_value("from", "The sender, by number or by the name of its device",
                        [&](FieldValue& value) { read_endpoint(value, pair.from); });
  fields.required_value("to", "The receiver, likewise", [&](FieldValue& value) { read_endpoint(value, pair.to); });
  fields.optional("size", pair.size, "Absent: that of \"sizes\"", {Bytes{1}});
  fields.optional("start", pair.start, "After the launch");
}

void read_pairs(Fields& fields, TrafficConfig& traffic) {
  fields.required_list("pairs", traffic.pairs, "Messages, each on a connection of its own", visit_pair);
}

void read_file(Fields& fields, const FileReader& files, Problems& problems, TrafficConfig& traffic) {
  fields.required_value("file", "A connection matrix (.cm), its path relative to the scenario", [&](FieldValue& value) {
    const auto text = value.text();
    if (!text) { return; }
    try {
      traffic.imported = read_htsim_matrix(files, *text, problems);
    } catch (const FileError& error) {
      value.problem("no-matrix", error.what(), "a path is relative to the scenario's file");
    }
  });
}

void read_pattern(Fields& fields, const FileReader& files, Problems& problems, TrafficConfig& traffic) {
  const auto nothing = [](Fields&) {};
  // The lambdas that run are those of the pattern that the scenario names.
  const auto as = [&](Pattern pattern, auto visit) {
    return [&traffic, pattern, visit](Fields& nested) {
      traffic.pattern = pattern;
      visit(nested);
    };
  };
  fields.choice(
      "pattern", "Who sends to whom",
      {{"permutation", "everyone sends to one other and receives from one other, drawn",
        as(Pattern::permutation, nothing)},
       {"incast", "several send to one", as(Pattern::incast, [&](Fields& f) { read_incast(f, traffic); })},
       {"random", "pairs that are drawn, all equally likely",
        as(Pattern::random,
           [&](Fields& f) {
             f.required("messages", traffic.messages, "How many pairs", {1, 10'000'000});
           })},
       {"shift", "endpoint i sends to i + by",
        as(Pattern::shift, [&](Fields& f) { f.optional("by", traffic.by, "How far", {1}); })},
       {"bit_reversal", "endpoint i sends to the one whose number has its bits in reverse",
        as(Pattern::bit_reversal, nothing)},
       {"transpose", "endpoint (row, column) of a square sends to (column, row)", as(Pattern::transpose, nothing)},
       {"all_to_all", "everyone sends to everyone else at once", as(Pattern::all_to_all, nothing)},
       {"pairs", "written out", as(Pattern::pairs, [&](Fields& f) { read_pairs(f, traffic); })},
       {"htsim", "a connection matrix of htsim",
        as(Pattern::htsim, [&](Fields& f) { read_file(f, files, problems, traffic); })}});
}

void visit_window(Fields& fields, TrafficMatrix::Window& window) {
  fields.optional("begin", window.begin, "Rates are counted from here on");
  fields.required("end", window.end, "Up to here, when messages are repeated no more", {Time{1}});
  if (window.end <= window.begin) {
    fields.problem("end", "empty-range", "the window ends before it begins", "\"begin\" is the earlier time");
  }
}

/// Sizes are said once: here, by each pair, or by the file.
void check_sizes(Fields& fields, TrafficConfig& traffic) {
  bool lacking = traffic.pattern != Pattern::htsim && traffic.pattern != Pattern::pairs;
  for (const TrafficConfig::Pair& pair : traffic.pairs) { lacking = lacking || !pair.size; }
  if (!lacking && fields.has("sizes")) {
    fields.problem("sizes", "unknown-key", "every message has a size of its own", "leave it out");
  } else if (lacking && !fields.has("sizes")) {
    fields.problem("", "missing-key", "the key 'sizes' is missing", R"(as in "sizes": "1MiB")");
  }
  for (const Bytes size : traffic.sizes) {
    if (size > Bytes::zero()) { continue; }
    fields.problem("sizes", "out-of-range", "a message of 0 B is none", "sizes are at least 1B");
    return;
  }
  if (!lacking) { traffic.sizes = {Bytes::zero()}; }
}

void check_repetition(Fields& fields, const TrafficConfig& traffic) {
  const bool triggered = !traffic.imported.triggers.empty();
  if (traffic.window && traffic.rounds > 1) {
    fields.problem("rounds", "conflict", "in a window every connection repeats its message all the time",
                   "leave out \"rounds\" or \"window\"");
  }
  if (triggered && (traffic.window || traffic.rounds > 1)) {
    fields.problem(traffic.window ? "window" : "rounds", "conflict",
                   "the file has triggers of its own, which start its messages once", "leave it out");
  }
}

}  // namespace

std::string_view name(Pattern pattern) {
  switch (pattern) {
    case Pattern::permutation: return "permutation";
    case Pattern::incast: return "incast";
    case Pattern::random: return "random";
    case Pattern::shift: return "shift";
    case Pattern::bit_reversal: return "bit_reversal";
    case Pattern::transpose: return "transpose";
    case Pattern::all_to_all: return "all_to_all";
    case Pattern::pairs: return "pairs";
    case Pattern::htsim: return "htsim";
  }
  return "";
}

namespace {

void read_endpoints(Fields& fields, TrafficConfig& traffic) {
  fields.optional("endpoints", traffic.endpoints, "How many take part, from endpoint 0 on; absent: every GPU or host",
                  {1});
  fields.optional("connections", traffic.connections, "Of each pair, side by side; each carries a message",
                  {1, 65'536});
}

void note_places(Fields& fields, TrafficConfig& traffic) {
  for (const char* key : {"", "endpoints", "receiver", "senders", "by", "pattern"}) {
    traffic.places[key] = fields.place(key);
  }
}

/// Streams have no sizes.
void check_streams(Fields& fields, const TrafficConfig& traffic) {
  constexpr const char* kWhy = "what has a \"rate\" never ends, so that nothing has a size or a start";
  bool sized = traffic.pattern == Pattern::htsim;
  for (const TrafficConfig::Pair& pair : traffic.pairs) { sized = sized || pair.size || pair.start > Time::zero(); }
  if (fields.has("sizes")) { fields.problem("sizes", "conflict", kWhy, R"(leave out "sizes" or "rate")"); }
  if (sized) { fields.problem("rate", "conflict", kWhy, "leave it out, or the sizes and starts of messages"); }
}

}  // namespace

void visit(Fields& fields, const FileReader& files, Problems& problems, TrafficConfig& traffic) {
  read_pattern(fields, files, problems, traffic);
  fields.optional_value("sizes",
                        "Of a message: \"1MiB\", \"1KiB..1MiB\", a list; required where nothing else says them",
                        [&](FieldValue& value) { read_sizes(value, traffic.sizes); });
  read_endpoints(fields, traffic);
  fields.optional("rounds", traffic.rounds, "Each begins when all of the one before has been delivered",
                  {1, 1'000'000});
  fields.optional("start", traffic.start, "Of every message, after the launch or the round before");
  fields.optional_object("window", traffic.window,
                         "Connections repeat their message, and rates are measured in this time", visit_window);
  note_places(fields, traffic);
  if (!fields.ok()) { return; }
  check_sizes(fields, traffic);
  check_repetition(fields, traffic);
}

void visit_background(Fields& fields, const FileReader& files, Problems& problems, TrafficConfig& traffic,
                      bool streams) {
  read_pattern(fields, files, problems, traffic);
  std::optional<Bytes> size;
  fields.optional("sizes", size, "Of a message; required where nothing else says them", {Bytes{1}});
  if (size) { traffic.sizes = {*size}; }
  read_endpoints(fields, traffic);
  note_places(fields, traffic);
  if (!fields.ok()) { return; }
  if (streams) {
    check_streams(fields, traffic);
  } else {
    check_sizes(fields, traffic);
  }
}

namespace {

class TrafficReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override {
    athanor::visit(section, context.files, context.problems, traffic_);
  }

  void fit(CaseParts& parts) override {
    const std::optional<std::vector<Bytes>>& asked = parts.context.changes.sizes;
    if (asked && traffic_.sizes.front() > Bytes::zero()) { traffic_.sizes = *asked; }
    resolve(traffic_, *parts.platform().cluster, parts.context.problems);
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    refuse_software("traffic", parts);
    return std::make_shared<const TrafficExperiment>(std::move(traffic_));
  }

 private:
  TrafficConfig traffic_;
};

}  // namespace

std::unique_ptr<ExperimentReader> traffic_reader() { return std::make_unique<TrafficReader>(); }

}  // namespace athanor
