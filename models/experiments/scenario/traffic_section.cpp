#include "models/experiments/scenario/traffic_section.hpp"

#include <filesystem>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/htsim_matrix.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "models/experiments/traffic.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

using Pattern = TrafficText::Pattern;
using Type = ValueReader::Form::Type;

void read_endpoint(ValueReader& value, EndpointText& endpoint) {
  value.one_of({{Type::number, [&](ValueReader& number) { number.read(endpoint.number); }},
                {Type::string, [&](ValueReader& text) {
                   endpoint.name = text.text().value_or("");
                   if (endpoint.name.empty()) { text.problem("unknown-endpoint", "an endpoint has a name"); }
                 }}});
  if (!value.describing()) { endpoint.place = value.place(); }
}

void read_incast(ObjectReader& reader, TrafficText& traffic) {
  reader.optional_value("receiver", "An endpoint, by number or by the name of its device",
                        [&](ValueReader& value) { read_endpoint(value, traffic.receiver); });
  reader.optional_value("senders", "How many that follow the receiver in rank order, or a list; absent: all others",
                        [&](ValueReader& value) {
                          value.one_of({{Type::number,
                                         [&](ValueReader& count) {
                                           count.read(traffic.sender_count.emplace(1), Range<std::uint32_t>{1});
                                         }},
                                        {Type::list, [&](ValueReader& list) {
                                           list.list([&](ValueReader& element) {
                                             EndpointText sender;
                                             read_endpoint(element, sender);
                                             traffic.senders.push_back(std::move(sender));
                                           });
                                         }}});
                        });
}

void read_pairs(ObjectReader& reader, TrafficText& traffic) {
  reader.required_objects("pairs", "Messages, each on a connection of its own", [&](ObjectReader& inner) {
    TrafficText::Pair pair;
    inner.required_value("from", "The sender, by number or by the name of its device",
                         [&](ValueReader& value) { read_endpoint(value, pair.from); });
    inner.required_value("to", "The receiver, likewise", [&](ValueReader& value) { read_endpoint(value, pair.to); });
    inner.optional("size", pair.size, "Absent: that of \"sizes\"", {Bytes{1}});
    inner.optional("start", pair.start, "After the launch");
    traffic.pairs.push_back(std::move(pair));
  });
}

void read_file(ObjectReader& reader, const std::string& directory, Problems& problems, TrafficText& traffic) {
  reader.required_value(
      "file", "A connection matrix (.cm), its path relative to the scenario", [&](ValueReader& value) {
        const auto text = value.text();
        if (!text) { return; }
        try {
          traffic.imported = read_htsim_matrix((std::filesystem::path(directory) / *text).string(), problems);
        } catch (const FileError& error) {
          value.problem("no-matrix", error.what(), "a path is relative to the scenario's file");
        }
      });
}

void read_pattern(ObjectReader& reader, const std::string& directory, Problems& problems, TrafficText& traffic) {
  const auto nothing = [](ObjectReader&) {};
  // The lambdas that run are those of the pattern that the scenario names.
  const auto as = [&](Pattern pattern, auto read) {
    return [&traffic, pattern, read](ObjectReader& fields) {
      if (!fields.describing()) { traffic.pattern = pattern; }
      read(fields);
    };
  };
  reader.choice(
      "pattern", "Who sends to whom",
      {{"permutation", "everyone sends to one other and receives from one other, drawn",
        as(Pattern::permutation, nothing)},
       {"incast", "several send to one", as(Pattern::incast, [&](ObjectReader& f) { read_incast(f, traffic); })},
       {"random", "pairs that are drawn, all equally likely",
        as(Pattern::random,
           [&](ObjectReader& f) {
             f.required("messages", traffic.messages, "How many pairs", {1, 10'000'000});
           })},
       {"shift", "endpoint i sends to i + by",
        as(Pattern::shift, [&](ObjectReader& f) { f.optional("by", traffic.by, "How far", {1}); })},
       {"bit_reversal", "endpoint i sends to the one whose number has its bits in reverse",
        as(Pattern::bit_reversal, nothing)},
       {"transpose", "endpoint (row, column) of a square sends to (column, row)", as(Pattern::transpose, nothing)},
       {"all_to_all", "everyone sends to everyone else at once", as(Pattern::all_to_all, nothing)},
       {"pairs", "written out", as(Pattern::pairs, [&](ObjectReader& f) { read_pairs(f, traffic); })},
       {"htsim", "a connection matrix of htsim",
        as(Pattern::htsim, [&](ObjectReader& f) { read_file(f, directory, problems, traffic); })}});
}

void read_window(ObjectReader& reader, TrafficMatrix::Window& window) {
  reader.optional("begin", window.begin, "Rates are counted from here on");
  reader.required("end", window.end, "Up to here, when messages are repeated no more", {Time{1}});
  if (!reader.describing() && window.end <= window.begin) {
    reader.problem("end", "empty-range", "the window ends before it begins", "\"begin\" is the earlier time");
  }
}

/// Sizes are said once: here, by each pair, or by the file.
void check_sizes(ObjectReader& reader, TrafficText& traffic) {
  bool lacking = traffic.pattern != Pattern::htsim && traffic.pattern != Pattern::pairs;
  for (const TrafficText::Pair& pair : traffic.pairs) { lacking = lacking || !pair.size; }
  if (!lacking && reader.has("sizes")) {
    reader.problem("sizes", "unknown-key", "every message has a size of its own", "leave it out");
  } else if (lacking && !reader.has("sizes")) {
    reader.problem("", "missing-key", "the key 'sizes' is missing", R"(as in "sizes": "1MiB")");
  }
  for (const Bytes size : traffic.sizes) {
    if (size > Bytes::zero()) { continue; }
    reader.problem("sizes", "out-of-range", "a message of 0 B is none", "sizes are at least 1B");
    return;
  }
  if (!lacking) { traffic.sizes = {Bytes::zero()}; }
}

void check_repetition(ObjectReader& reader, const TrafficText& traffic) {
  const bool triggered = !traffic.imported.triggers.empty();
  if (traffic.window && traffic.rounds > 1) {
    reader.problem("rounds", "conflict", "in a window every connection repeats its message all the time",
                   "leave out \"rounds\" or \"window\"");
  }
  if (triggered && (traffic.window || traffic.rounds > 1)) {
    reader.problem(traffic.window ? "window" : "rounds", "conflict",
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

void read(ObjectReader& reader, const std::string& directory, Problems& problems, TrafficText& traffic) {
  read_pattern(reader, directory, problems, traffic);
  reader.optional_value("sizes",
                        "Of a message: \"1MiB\", \"1KiB..1MiB\", a list; required where nothing else says them",
                        [&](ValueReader& value) { read_sizes(value, traffic.sizes); });
  reader.optional("endpoints", traffic.endpoints, "How many take part, from endpoint 0 on; absent: every GPU or host",
                  {1});
  reader.optional("connections", traffic.connections, "Of each pair, side by side; each carries a message",
                  {1, 65'536});
  reader.optional("rounds", traffic.rounds, "Each begins when all of the one before has been delivered",
                  {1, 1'000'000});
  reader.optional("start", traffic.start, "Of every message, after the launch or the round before");
  reader.optional_object("window", "Connections repeat their message, and rates are measured in this time",
                         [&](ObjectReader& inner) {
                           TrafficMatrix::Window window;
                           read_window(inner, window);
                           if (!inner.describing()) { traffic.window = window; }
                         });
  if (reader.describing()) { return; }
  for (const char* key : {"", "endpoints", "receiver", "senders", "by", "pattern"}) {
    traffic.places[key] = reader.place(key);
  }
  if (!reader.ok()) { return; }
  check_sizes(reader, traffic);
  check_repetition(reader, traffic);
}

namespace {

class TrafficReader : public ExperimentReader {
 public:
  void read(ObjectReader& section, ReadingContext& context) override {
    athanor::read(section, context.directory, context.problems, traffic_);
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
  TrafficText traffic_;
};

}  // namespace

std::unique_ptr<ExperimentReader> traffic_reader() { return std::make_unique<TrafficReader>(); }

}  // namespace athanor
