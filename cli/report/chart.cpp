#include "cli/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace maxmargin::cli {
namespace {

/// Of one panel, in pixels.
struct Frame {
  static constexpr double width = 260, height = 170, left = 52, right = 12, top = 46, bottom = 44;
};

/// Where numbers lie on one axis.
struct Axis {
  double low = 0, high = 1, from = 0, to = 1;
  bool logarithmic = false;

  Axis(const std::vector<double>& values, double begin, double end, bool logs)
      : from(begin), to(end), logarithmic(logs) {
    bool any = false;
    for (const double value : values) {
      if (!shows(value)) continue;
      low = any ? std::min(low, mapped(value)) : mapped(value);
      high = any ? std::max(high, mapped(value)) : mapped(value);
      any = true;
    }
    if (!(high > low)) {
      low -= 0.5;
      high += 0.5;
    }
  }
  bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  double mapped(double value) const { return logarithmic ? std::log10(value) : value; }
  double at(double value) const {
    return from + (mapped(value) - low) / (high - low) * (to - from);
  }
  /// The ends of the axis, and powers of ten or the middle between them.
  std::vector<double> ticks() const {
    std::vector<double> list;
    if (logarithmic)
      for (double power = std::ceil(low - 1e-9); power <= high + 1e-9;
           power += std::max(1.0, std::ceil((high - low) / 4)))
        list.push_back(std::pow(10, power));
    if (list.size() < 2) {
      list.clear();
      for (const double share : {0.0, 0.5, 1.0}) {
        const double value = low + share * (high - low);
        list.push_back(logarithmic ? std::pow(10, value) : value);
      }
    }
    return list;
  }
};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text)
    safe += letter == '<' ? "&lt;" : letter == '&' ? "&amp;" : std::string(1, letter);
  return safe;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string drawn(const Panel& panel, const std::vector<double>& x, double offset) {
  const Axis across(x, offset + Frame::left, offset + Frame::width - Frame::right, true);
  const Axis up(panel.y, Frame::top + Frame::height, Frame::top, panel.logarithmic);
  std::string svg = text_at(offset + (Frame::left + Frame::width - Frame::right) / 2,
                            Frame::top - 10, "middle", panel.title);
  svg += fmt::format(
      "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='none' stroke='#999'/>\n",
      across.from, Frame::top, across.to - across.from, Frame::height);
  for (const double tick : across.ticks())
    svg += text_at(across.at(tick), Frame::top + Frame::height + 16, "middle",
                   fmt::format("{:.3g}", tick));
  for (const double tick : up.ticks())
    svg += text_at(across.from - 4, up.at(tick) + 4, "end", fmt::format("{:.3g}", tick));
  std::string line;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!up.shows(panel.y[k])) continue;
    const double px = across.at(x[k]), py = up.at(panel.y[k]);
    line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", px, py);
    svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.5' fill='#1f5fa8'/>\n", px, py);
  }
  return svg + fmt::format("<polyline points='{}' fill='none' stroke='#1f5fa8'/>\n", line);
}

}  // namespace

std::string small_multiples(const std::string& title, const std::string& x_title,
                            const std::vector<double>& x, const std::vector<Panel>& panels) {
  const double all = Frame::width * static_cast<double>(panels.size());
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
      "font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='#fff'/>\n",
      all, Frame::top + Frame::height + Frame::bottom);
  svg += text_at(all / 2, 18, "middle", title);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const double offset = Frame::width * static_cast<double>(k);
    svg += drawn(panels[k], x, offset);
    svg += text_at(offset + (Frame::left + Frame::width - Frame::right) / 2,
                   Frame::top + Frame::height + 34, "middle", x_title);
  }
  return svg + "</svg>\n";
}

}  // namespace maxmargin::cli
