#include "models/bill/bill.hpp"
#include "models/bill/read_price.hpp"
#include "models/library/library.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

namespace {

void read_part(Fields& fields, PartPrice& price) {
  std::string ignored;
  read_price(fields, "usd", price.usd, "Of one");
  read_price(fields, "w", price.w, "At most");
  fields.required("date", ignored, "Of the price");
  fields.optional("note", ignored, "For readers");
  fields.optional_object("from", "Where each figure comes from", [&](Fields& inner) {
    inner.entries("A source", [&](const std::string&, FieldValue& value) { value.visit(ignored); });
  });
}

}  // namespace

PriceList load_prices(const Library& library) {
  PriceList list;
  Problems problems;
  const Document document = Document::load(library.files(), library.path(LibraryFolder::presets, "prices"));
  read_document(document, problems, [&](Fields& fields) {
    std::string about;
    Sources sources;
    fields.required("about", about, "For readers");
    fields.required_object("sources", "By the short names that figures use",
                           [&](Fields& inner) { read_sources(inner, sources); });
    fields.required_object("presets", "By the names of nodes and switches", [&](Fields& parts) {
      parts.entries("What one costs and draws", [&](const std::string& name, FieldValue& value) {
        value.object([&](Fields& part) { read_part(part, list.parts[name]); });
      });
    });
  });
  problems.throw_if_any();
  const auto presets = load_presets(library.files().in(library.folder(LibraryFolder::presets)));
  for (const auto& [name, gpu] : presets->gpus) {
    if (gpu.power) { list.gpu_w[name] = watts(*gpu.power); }
  }
  return list;
}

}  // namespace athanor
