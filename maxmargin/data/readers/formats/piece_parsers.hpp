#pragma once

#include "maxmargin/data/readers/formats/csv_layout.hpp"
#include "maxmargin/data/readers/formats/piece.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin {

// Each parses the text of a piece, whole records that end with a line feed and are followed by
// text_padding bytes, up to its end or the first fault.

void parse_libsvm(Piece& piece, const ReadOptions& options);
void parse_csv(Piece& piece, const CsvLayout& layout, LabelKind kind);

}  // namespace maxmargin
