#include "maxmargin/structured/tasks/grouped_rows.hpp"

#include <set>

#include "maxmargin/base/error.hpp"

namespace maxmargin {

GroupedRows read_grouped_rows(const std::string& path, const Vocabulary* known,
                              const GroupReader& reader) {
  GroupedRows groups;
  FeatureRows rows(known);
  TextLines lines(path);
  std::set<std::string> seen;
  while (lines.next()) {
    if (reader.take_other && reader.take_other(lines, rows.x().count())) continue;
    const FeatureRow row = feature_row(lines);
    if (row.label.empty()) continue;
    reader.take(row, lines);
    if (row.qid.empty())
      throw Error(Fault::data, lines.place(), std::string(reader.row) + " without a qid",
                  "write LABEL qid:N index:value ...");
    if (seen.empty() || groups.name.back() != row.qid) {
      if (!seen.empty()) groups.start.push_back(rows.x().count());
      if (!seen.emplace(row.qid).second)
        throw Error(Fault::data, lines.place(),
                    "qid:" + std::string(row.qid) + " occurs again after others",
                    "rows of one " + std::string(reader.group) + " stand together: sort them");
      groups.name.emplace_back(row.qid);
      groups.line.push_back(lines.number());
    }
    rows.append(row);
  }
  if (seen.empty())
    throw Error(Fault::data, Place{path}, "there is no " + std::string(reader.group), "give some");
  groups.start.push_back(rows.x().count());
  groups.x = rows.take();
  return groups;
}

}  // namespace maxmargin
