#include "sim/config/object_reader.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

namespace {

void check_ends(ObjectReader& reader, const std::vector<std::string>& between, LinkOverride& given) {
  const bool one_way = reader.has("from") || reader.has("to");
  if (reader.has("between") == one_way || reader.has("from") != reader.has("to")) {
    reader.problem("", "missing-key", "an override names either both ends of a cable, or from where to where",
                   R"(write "between": ["leaf0", "spine1"], or "from": "leaf0", "to": "spine1")");
    return;
  }
  given.both_ways = !one_way;
  if (one_way) { return; }
  if (between.size() != 2) {
    reader.problem("between", "link-ends", "a link is between two devices", R"("between": ["leaf0", "spine1"])");
    return;
  }
  given.from = between[0];
  given.to = between[1];
}

void check_change(ObjectReader& reader, const LinkOverride& given) {
  const bool figures = given.rate || given.usable || given.latency;
  if (given.down && figures) {
    reader.problem("down", "conflict", "a link that is down has neither rate nor latency", "leave out one of them");
  } else if (!given.down && !figures) {
    reader.problem("", "missing-key", "an override changes nothing",
                   R"(give a "rate", a "usable" rate, a "latency" or "down": true)");
  }
  if (given.rate && given.usable && *given.usable > *given.rate) {
    reader.problem("usable", "out-of-range", "the usable rate is above the line rate");
  }
}

}  // namespace

void read(ObjectReader& reader, LinkOverride& given) {
  std::vector<std::string> between;
  reader.optional("between", between,
                  "The devices at both ends, as reports name them; * stands for any characters, ? for one");
  reader.optional("from", given.from, "Instead: the device that sends, of one direction only");
  reader.optional("to", given.to, "And the one that receives");
  reader.optional("cables", given.cables, "Of parallel cables only so many; absent: all", {1});
  reader.optional("rate", given.rate, "Line rate, each direction; the usable rate keeps its share");
  reader.optional("usable", given.usable, "Payload rate");
  reader.optional("latency", given.latency, "From end to end, the forwarding of the sending device included");
  reader.optional("down", given.down, "Whether it carries nothing; routes go round it");
  if (reader.describing()) { return; }
  given.place = reader.place();
  if (!reader.ok()) { return; }
  check_ends(reader, between, given);
  check_change(reader, given);
}

}  // namespace athanor
