/* Structural machines through C: an oracle is a table of functions, so that any language that can
   call C can write one. See docs/structured.md. Nothing here throws, prints or exits. */
#ifndef MAXMARGIN_STRUCTURED_H
#define MAXMARGIN_STRUCTURED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is maximised over y: see `most_violated`. */
enum maxmargin_ask { maxmargin_best = 0, maxmargin_margin = 1, maxmargin_slack = 2 };
enum maxmargin_exactness { maxmargin_exact = 0, maxmargin_relaxed = 1, maxmargin_heuristic = 2 };

/* All that is known of the examples. A structure is a list of whole numbers, of which only the
   oracle knows the meaning. A function that fills a list gets `room` and returns how many numbers
   there are; where that is more than room, it is called again with enough. The same question gets
   the same answer. With one thread (see options) functions are called one at a time. */
typedef struct maxmargin_oracle {
  void* self; /* handed to each function */
  size_t examples, dimensions;
  int exactness;     /* of most_violated: enum maxmargin_exactness */
  int answers_slack; /* whether most_violated may be asked maxmargin_slack */

  /* The right structure of an example. */
  size_t (*truth)(void* self, size_t example, int32_t* y, size_t room);
  /* Delta: 0 for the truth, never negative. */
  double (*loss)(void* self, size_t example, const int32_t* y, size_t length);
  /* Psi(x, y): indices below `dimensions` and values; what occurs twice adds up. */
  size_t (*features)(void* self, size_t example, const int32_t* y, size_t length, uint32_t* index,
                     double* value, size_t room);
  /* The structure with the largest w.Psi (maxmargin_best), Delta - w.psi (maxmargin_margin) or
     Delta (1 - w.psi) (maxmargin_slack), psi = Psi(x, y_true) - Psi(x, y). */
  size_t (*most_violated)(void* self, size_t example, const double* w, int ask, int32_t* y,
                          size_t room);
} maxmargin_oracle;

typedef struct maxmargin_structured_options {
  double cost;         /* C times the mean of the slacks */
  double relative_gap; /* when to end */
  double seconds;      /* or then; 0: no limit */
  int rescaling;       /* 0 margin, 1 slack */
  int slack;           /* 0 linear, 1 squared, 2 none */
  const char* solver;  /* "blocks", "n-slack" or "1-slack"; NULL: the first */
  int threads;         /* 0: all cores */
  uint64_t seed;
} maxmargin_structured_options;

typedef struct maxmargin_structured_result {
  double primal, dual, gap, relative_gap;
  int exactness; /* of the certificate: a heuristic's gap is no bound */
  int converged; /* 0: a limit came first, or no step improved it */
  uint64_t oracle_calls, planes;
} maxmargin_structured_result;

/* The options that a program starts from. */
maxmargin_structured_options maxmargin_structured_defaults(void);

/* Examines the oracle, trains, certifies; w has room for `dimensions` numbers. Returns 0, or 1 with
   one line in `message` (may be NULL) that names the example: then w is left as it was. */
int maxmargin_structured_train(const maxmargin_oracle* oracle,
                               const maxmargin_structured_options* options, double* w,
                               maxmargin_structured_result* result, char* message,
                               size_t message_room);

#ifdef __cplusplus
}
#endif
#endif
