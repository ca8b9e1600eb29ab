#include "sim/config/fields.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

namespace {

void check_ends(Fields& fields, const std::vector<std::string>& between, LinkOverride& given) {
  const bool one_way = fields.has("from") || fields.has("to");
  if (fields.has("between") == one_way || fields.has("from") != fields.has("to")) {
    fields.problem("", "missing-key", "an override names either both ends of a cable, or from where to where",
                   R"(write "between": ["leaf0", "spine1"], or "from": "leaf0", "to": "spine1")");
    return;
  }
  given.both_ways = !one_way;
  if (one_way) { return; }
  if (between.size() != 2) {
    fields.problem("between", "link-ends", "a link is between two devices", R"("between": ["leaf0", "spine1"])");
    return;
  }
  given.from = between[0];
  given.to = between[1];
}

void check_change(Fields& fields, const LinkOverride& given) {
  const bool figures = given.rate || given.usable || given.latency;
  if (given.down && figures) {
    fields.problem("down", "conflict", "a link that is down has neither rate nor latency", "leave out one of them");
  } else if (!given.down && !figures) {
    fields.problem("", "missing-key", "an override changes nothing",
                   R"(give a "rate", a "usable" rate, a "latency" or "down": true)");
  }
  if (given.rate && given.usable && *given.usable > *given.rate) {
    fields.problem("usable", "out-of-range", "the usable rate is above the line rate");
  }
}

}  // namespace

void visit(Fields& fields, LinkOverride& given) {
  std::vector<std::string> between;
  fields.optional("between", between,
                  "The devices at both ends, as reports name them; * stands for any characters, ? for one");
  fields.optional("from", given.from, "Instead: the device that sends, of one direction only");
  fields.optional("to", given.to, "And the one that receives");
  fields.optional("cables", given.cables, "Of parallel cables only so many; absent: all", {1});
  fields.optional("rate", given.rate, "Line rate, each direction; the usable rate keeps its share");
  fields.optional("usable", given.usable, "Payload rate");
  fields.optional("latency", given.latency, "From end to end, the forwarding of the sending device included");
  fields.optional("down", given.down, "Whether it carries nothing; routes go round it");
  given.place = fields.place();
  if (!fields.ok()) { return; }
  check_ends(fields, between, given);
  check_change(fields, given);
}

}  // namespace athanor
