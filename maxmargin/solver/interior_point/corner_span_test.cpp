#include "maxmargin/solver/interior_point/corner_span.hpp"

#include <gtest/gtest.h>

#include "maxmargin/solver/interior_point/streamed_pass.hpp"

namespace maxmargin::corner_span_test {
namespace {

// Rows (1, 0, 1) and (0, 1, 1), the first three times.
CornerSpan two_of_three() { return {{3, 0, 0, 0, 1, 0, 3, 1, 4}, 3}; }

TEST(CornerSpan, MovesByWhatIsLacking) {
  const CornerSpan span = two_of_three();
  EXPECT_EQ(span.rank(), 2u);
  // f has to change by 0.5 at the first rows, by -1 at the last: Z'r = (1.5, -1, 0.5).
  const std::vector<double> move = span.fit(std::vector<double>{1.5, -1, 0.5});
  EXPECT_NEAR(move[0] + move[2], 0.5, 1e-14);
  EXPECT_NEAR(move[1] + move[2], -1, 1e-14);
  // The least such move is a sum of these rows.
  EXPECT_NEAR(move[0] + move[1] - move[2], 0, 1e-14);
}

TEST(CornerSpan, UnseenIsOrthogonalToTheRows) {
  const CornerSpan span = two_of_three();
  const std::vector<double> rest = span.unseen(std::vector<double>{2, -1, 5});
  EXPECT_NEAR(rest[0] + rest[2], 0, 1e-14);
  EXPECT_NEAR(rest[1] + rest[2], 0, 1e-14);
  EXPECT_NEAR(rest[2], 4.0 / 3, 1e-14);
}

TEST(CornerSpan, CompletedMatrixActsAsBeforeOnWhatIsSeen) {
  const CornerSpan span = two_of_three();
  std::vector<double> matrix{3, 0, 0, 0, 1, 0, 3, 1, 4};
  span.complete(matrix);
  // On (1, 0, 1) as before; on (1, 1, -1) as 4, the largest of its diagonal.
  EXPECT_NEAR(matrix[0] + matrix[6], 6, 1e-13);
  EXPECT_NEAR(matrix[6] + matrix[8], 7, 1e-13);
  EXPECT_NEAR(matrix[6] + matrix[7] - matrix[8], -4, 1e-13);
}

TEST(CornerSpan, NoRows) {
  const CornerSpan span({0, 0, 0, 0}, 2);
  EXPECT_EQ(span.rank(), 0u);
  EXPECT_EQ(span.unseen(std::vector<double>{3, 4}), (std::vector<double>{3, 4}));
  EXPECT_EQ(span.fit(std::vector<double>{0, 0}), (std::vector<double>{0, 0}));
}

TEST(Distances, Gaps) {
  Distances distances;
  for (const double distance : {1e-9, 3e-8, 5e-8, 2e-3, 1e-2, 0.4}) distances.add(distance);
  const double widest = distances.gap(1e-9, 1, 1);
  EXPECT_GT(widest, 6e-8);
  EXPECT_LT(widest, 1e-3);
  const double first = distances.gap(1e-9, 1, 0.1);
  EXPECT_GT(first, 1.2e-9);
  EXPECT_LT(first, 3e-8);
  EXPECT_EQ(distances.within(widest), 3u);
}

}  // namespace
}  // namespace maxmargin::corner_span_test
