#include "tools/scenario/collective_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/format.hpp"
#include "tools/scenario/sizes.hpp"

namespace athanor {

namespace {

constexpr const char* kBest = "best";

/// Names that "algorithm" may hold. `known` kind: those of that collective; else those of all, each once.
std::vector<std::string> algorithm_names(std::optional<CollectiveKind> known) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : catalog()) {
    const std::string name(algorithm.name);
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    if (!listed && (!known || algorithm.kind == *known)) { names.push_back(name); }
  }
  return names;
}

void read_kind(ValueReader& value, std::optional<CollectiveKind>& kind) {
  std::vector<std::string> names;
  for (const CollectiveKind each : collective_kinds()) { names.emplace_back(name(each)); }
  std::string text = names[0];
  value.read(text, OneOf{names});
  if (!value.describing() && value.ok()) { kind = collective_kind(text); }
}

void read_type(ValueReader& value, DataType& type) {
  std::vector<std::string> names;
  for (const DataType each : data_types()) { names.emplace_back(name(each)); }
  std::string text(name(type));
  value.read(text, OneOf{names});
  if (!value.describing() && value.ok()) { type = data_type(text).value(); }
}

/// "ring", "best" or a list of names.
void read_algorithms(ValueReader& value, std::optional<CollectiveKind> kind, std::vector<std::string>& chosen) {
  using Type = ValueReader::Form::Type;
  const auto read_name = [&](ValueReader& text, bool best) {
    std::vector<std::string> names = algorithm_names(kind);
    if (best) { names.emplace_back(kBest); }
    std::string word = names.front();
    text.read(word, OneOf{names});
    if (!text.describing() && text.ok() && word != kBest) { chosen.push_back(word); }
  };
  value.one_of(
      {{Type::string, [&](ValueReader& text) { read_name(text, true); }},
       {Type::list, [&](ValueReader& list) { list.list([&](ValueReader& element) { read_name(element, false); }); }}});
}

void read_overrides(ObjectReader& reader, Overrides& overrides) {
  reader.optional("protocol", overrides.protocol, "Only this protocol of the profile; absent: the fastest");
  reader.optional("channels", overrides.channels, "Side by side; absent: as the profile says", {1, 1024});
  reader.optional("chunk", overrides.chunk, "Most payload of one chunk; absent: as the profile says", {Bytes{1}});
  reader.optional("slices", overrides.slices, "Messages per chunk; absent: as the profile says", {1, 64});
  reader.optional("rotate", overrides.rotate,
                  "Channel c's ring leaves each node from GPU c; absent: as the profile says");
}

void check_sizes(ObjectReader& reader, const CollectiveSection& section) {
  for (const Bytes size : section.sizes) {
    if (size % size_of(section.type) == Bytes::zero()) { continue; }
    reader.problem("sizes", "not-whole-elements",
                   fmt::format("{} is no whole number of {} elements of {}", to_string(size), name(section.type),
                               to_string(size_of(section.type))),
                   "choose another size or \"type\"");
    return;
  }
}

}  // namespace

std::vector<const Algorithm*> algorithms_of(CollectiveKind kind) {
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind == kind) { all.push_back(&algorithm); }
  }
  return all;
}

void read(ObjectReader& reader, CollectiveSection& section) {
  std::optional<CollectiveKind> kind;
  reader.required_value("kind", "What is done", [&](ValueReader& value) { read_kind(value, kind); });
  std::vector<std::string> names;
  reader.optional_value("algorithm", "A name, a list whose fastest is reported at each size, or \"best\": all that fit",
                        [&](ValueReader& value) { read_algorithms(value, kind, names); });
  reader.required_value("sizes", "Payloads, as nccl-tests counts them: \"8B..8GiB\" doubles from size to size",
                        [&](ValueReader& value) { read_sizes(value, section.sizes); });
  reader.optional_value("type", "Of the elements", [&](ValueReader& value) { read_type(value, section.type); });
  reader.optional("root", section.root,
                  "The root of broadcast, reduce, gather and scatter; the sender of send_receive");
  reader.optional("ranks", section.ranks, "How many take part, from endpoint 0 on; absent: every GPU or host", {1});
  read_overrides(reader, section.overrides);
  if (reader.describing()) { return; }
  check_sizes(reader, section);
  if (!kind) { return; }
  section.kind = *kind;
  section.algorithms = names.empty() ? algorithms_of(*kind) : std::vector<const Algorithm*>{};
  for (const std::string& name : names) { section.algorithms.push_back(&find(*kind, name)); }
}

}  // namespace athanor
