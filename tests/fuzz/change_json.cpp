#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/fuzz/mutation.hpp"
#include "tests/json_tree.hpp"

namespace athanor::fuzz {

namespace {

using nlohmann::json;

constexpr std::size_t kLongText = 5000;
constexpr std::size_t kDeep = 300;

/// All values of a document with what holds them, so that each is as likely to be taken.
struct Held {
  json* value = nullptr;
  json* holder = nullptr;  ///< nullptr: the root
  std::string key;         ///< in an object
  std::size_t index = 0;   ///< in a list
};

void collect(json& value, json* holder, const std::string& key, std::size_t index, std::vector<Held>& all) {
  all.push_back({&value, holder, key, index});
  if (value.is_object()) {
    for (auto& [name, inner] : value.items()) { collect(inner, &value, name, 0, all); }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) { collect(value[i], &value, "", i, all); }
  }
}

std::vector<Held> values_of(json& root) {
  std::vector<Held> all;
  collect(root, nullptr, "", 0, all);
  return all;
}

json extreme_value(RandomStream& random) {
  switch (random.below(9)) {
    case 0: return nullptr;
    case 1: return random.below(2) == 0;
    case 2: return json::object();
    case 3: return json::array();
    case 4: return std::string(extreme_word(random));
    case 5: return std::string(kLongText, 'a');
    case 6: return json::array({0, 0, 1});
    default: {
      const json number = json_or_discarded(extreme_word(random));
      return number.is_discarded() ? json(-1) : number;
    }
  }
}

json changed_value(const json& value, RandomStream& random) {
  if (value.is_string()) { return changed_word(value.get_ref<const std::string&>(), random); }
  if (value.is_number()) {
    const json number = json_or_discarded(changed_word(text_of(value), random));
    return number.is_discarded() ? json(std::string(extreme_word(random))) : number;
  }
  if (value.is_boolean()) { return !value.get<bool>(); }
  return extreme_value(random);
}

class JsonChanges {
 public:
  JsonChanges(json& root, std::span<const Seed> others, RandomStream& random)
      : root_(root), others_(others), random_(random) {}

  void once() {
    std::vector<Held> all = values_of(root_);
    Held& held = all[random_.below(all.size())];
    switch (random_.below(16)) {
      case 0: *held.value = extreme_value(random_); break;
      case 1: remove(held); break;
      case 2: repeat(held); break;
      case 3: std::swap(*held.value, *leaf_of(all).value); break;
      case 4: *held.value = json(*all[random_.below(all.size())].value); break;
      case 5: splice(held); break;
      case 6: insert(held); break;
      case 7: wrap(held); break;
      case 8: rename(held, all); break;
      default: {
        json* leaf = leaf_of(all).value;
        *leaf = changed_value(*leaf, random_);
      }
    }
  }

 private:
  /// Of the tries one that holds nothing else: these are most of what readers look at.
  Held& leaf_of(std::vector<Held>& all) {
    Held* found = &all[random_.below(all.size())];
    for (int i = 0; i < 8 && found->value->is_structured(); ++i) { found = &all[random_.below(all.size())]; }
    return *found;
  }

  static void remove(const Held& held) {
    if (held.holder == nullptr) { return; }
    if (held.holder->is_object()) {
      held.holder->erase(held.key);
    } else {
      held.holder->erase(held.index);
    }
  }

  void repeat(const Held& held) {
    if (held.holder == nullptr || !held.holder->is_array()) { return; }
    const json copy = *held.value;
    const std::size_t times = random_.below(20) == 0 ? 200 : 1;
    if (times > 1 && text_of(copy).size() > 200) { return; }
    for (std::size_t i = 0; i < times; ++i) { held.holder->push_back(copy); }
  }

  /// A piece of another file.
  json piece() {
    json other = json_or_discarded(others_[random_.below(others_.size())].content);
    if (other.is_discarded()) { return extreme_value(random_); }
    std::vector<Held> all = values_of(other);
    return *all[random_.below(all.size())].value;
  }

  void splice(const Held& held) { *held.value = piece(); }

  void insert(const Held& held) {
    json other = json_or_discarded(others_[random_.below(others_.size())].content);
    if (other.is_discarded() || !held.value->is_object()) { return; }
    std::vector<Held> all = values_of(other);
    const Held& found = all[random_.below(all.size())];
    if (!found.key.empty()) { (*held.value)[found.key] = *found.value; }
  }

  void wrap(const Held& held) {
    json wrapped = *held.value;
    const std::size_t depth = random_.below(10) == 0 ? kDeep : 1;
    for (std::size_t i = 0; i < depth; ++i) {
      wrapped = random_.below(2) == 0 ? json::array({std::move(wrapped)}) : json{{"name", std::move(wrapped)}};
    }
    *held.value = std::move(wrapped);
  }

  void rename(const Held& held, const std::vector<Held>& all) {
    if (held.holder == nullptr || !held.holder->is_object()) { return; }
    const std::string& other = all[random_.below(all.size())].key;
    json value = std::move(*held.value);
    const std::string old = held.key;
    held.holder->erase(old);
    (*held.holder)[other.empty() ? old + "s" : other] = std::move(value);
  }

  json& root_;
  std::span<const Seed> others_;
  RandomStream& random_;
};

}  // namespace

void change_json(std::string& content, std::span<const Seed> others, unsigned changes, RandomStream& random) {
  json root = json::parse(content, nullptr, false, true);
  if (root.is_discarded()) { return change_text(content, others, random); }
  JsonChanges all(root, others, random);
  for (unsigned i = 0; i < changes; ++i) { all.once(); }
  content = root.dump(random.below(4) == 0 ? 1 : -1, ' ', false, json::error_handler_t::ignore);
  if (random.below(10) == 0) { change_text(content, others, random); }
}

}  // namespace athanor::fuzz
