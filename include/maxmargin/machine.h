/* Machines through C: train, predict, save and load whatever `maxmargin train --help` lists, one
   pair or all classes in one problem, from any language that can call C. Nothing here throws,
   prints or exits. Functions that return int return 0, or 1 with one line in `message` (may be
   NULL) that says what is wrong and how to mend it; then what they should have written is left as
   it was. A model may be used from several threads at once. */
#ifndef MAXMARGIN_MACHINE_H
#define MAXMARGIN_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of features in arrays of the caller's, which are read and not kept. Dense: `start` and
   `index` are NULL and `values` has count * columns numbers, row by row. Sparse: row i has the
   values[k] in the columns index[k], increasing and from 0, for start[i] <= k < start[i + 1];
   `start` has count + 1 numbers. `label` and `weight` have count numbers or are NULL. */
typedef struct maxmargin_rows {
  size_t count, columns;
  const double* values;
  const uint64_t* start;
  const uint32_t* index;
  const double* label;
  const double* weight;
} maxmargin_rows;

/* An option by the name that `maxmargin train --help` lists, without its dashes:
   {"multiclass", "crammer-singer"}. */
typedef struct maxmargin_option {
  const char* name;
  const char* value;
} maxmargin_option;

typedef struct maxmargin_model maxmargin_model;

int maxmargin_model_train(const maxmargin_rows* rows, const maxmargin_option* options,
                          size_t option_count, maxmargin_model** model, char* message,
                          size_t message_room);
/* Whole or not at all; a file that is loaded is not trusted. */
int maxmargin_model_save(const maxmargin_model* model, const char* path, char* message,
                         size_t message_room);
int maxmargin_model_load(const char* path, maxmargin_model** model, char* message,
                         size_t message_room);
void maxmargin_model_free(maxmargin_model* model); /* NULL: nothing */

/* Classes in the order of probabilities, 0 of a model that predicts numbers; the name of one, NULL
   where there is none of that number. Decision functions a row. */
size_t maxmargin_model_classes(const maxmargin_model* model);
const char* maxmargin_model_class(const maxmargin_model* model, size_t number);
size_t maxmargin_model_machines(const maxmargin_model* model);

/* The optimum of what was asked for lies between dual and primal, where mercer is 1. */
typedef struct maxmargin_certificate {
  double primal, dual, relative_gap, kkt;
  int mercer;
  int converged; /* 0: a limit came first, or rounding */
} maxmargin_certificate;
int maxmargin_model_certificate(const maxmargin_model* model, maxmargin_certificate* certificate,
                                char* message, size_t message_room);

/* Of each row: the label or number that is predicted (labels that are words: an error); `machines`
   decision values; `classes` probabilities. `threads`: 0 is one a core. */
int maxmargin_model_predict(const maxmargin_model* model, const maxmargin_rows* rows, int threads,
                            double* out, char* message, size_t message_room);
int maxmargin_model_decision_values(const maxmargin_model* model, const maxmargin_rows* rows,
                                    int threads, double* out, char* message, size_t message_room);
int maxmargin_model_probabilities(const maxmargin_model* model, const maxmargin_rows* rows,
                                  int threads, double* out, char* message, size_t message_room);

#ifdef __cplusplus
}
#endif
#endif
