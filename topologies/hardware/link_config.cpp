#include "topologies/hardware/link_config.hpp"

#include "sim/config/fields.hpp"

namespace athanor {

void visit(Fields& fields, LinkConfig& link) {
  fields.required("rate", link.rate, "Line rate, one direction");
  fields.optional("usable", link.usable, "Payload rate after framing and protocol; default: the line rate");
  fields.optional("latency", link.latency, "Propagation, and forwarding of the sending device");
  const Bandwidth usable = link.usable.value_or(link.rate);
  if (usable > link.rate) { fields.problem("usable", "out-of-range", "the usable rate is above the line rate"); }
}

void read(FieldValue& fields, LinkConfig& link) {
  using Type = FieldValue::Form::Type;
  link.place = fields.place();
  fields.one_of(
      {{Type::string, [&](FieldValue& value) { value.visit(link.preset); }},
       {Type::object, [&](FieldValue& value) { value.object([&](Fields& nested) { visit(nested, link); }); }}});
}

void optional_link(Fields& fields, std::string_view key, std::string_view meaning, std::optional<LinkConfig>& link) {
  if (fields.writing() && !link) { return; }
  fields.optional_value(key, meaning,
                        [&](FieldValue& value) { read(value, value.writing() ? *link : link.emplace()); });
}

}  // namespace athanor
