#include "models/bill/bill.hpp"
#include "models/bill/read_price.hpp"
#include "sim/config/document.hpp"
#include "sim/config/object_reader.hpp"
#include "topologies/scenario/sources.hpp"

namespace athanor {

namespace {

void read_part(ObjectReader& reader, PartPrice& price) {
  std::string ignored;
  read_price(reader, "usd", price.usd, "Of one");
  read_price(reader, "w", price.w, "At most");
  reader.required("date", ignored, "Of the price");
  reader.optional("note", ignored, "For readers");
  reader.optional_object("from", "Where each figure comes from", [&](ObjectReader& inner) {
    inner.entries("A source", [&](const std::string&, ValueReader& value) { value.read(ignored); });
  });
}

}  // namespace

PriceList load_prices(const Library& library) {
  PriceList list;
  Problems problems;
  const Document document = Document::load(library.path(Shelf::presets, "prices"));
  read_document(document, problems, [&](ObjectReader& reader) {
    std::string about;
    Sources sources;
    reader.required("about", about, "For readers");
    reader.required_object("sources", "By the short names that figures use",
                           [&](ObjectReader& inner) { read_sources(inner, sources); });
    reader.required_object("presets", "By the names of nodes and switches", [&](ObjectReader& parts) {
      parts.entries("What one costs and draws", [&](const std::string& name, ValueReader& value) {
        value.object([&](ObjectReader& part) { read_part(part, list.parts[name]); });
      });
    });
  });
  problems.throw_if_any();
  return list;
}

}  // namespace athanor
