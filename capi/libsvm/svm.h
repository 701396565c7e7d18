/* The C interface of LIBSVM, as maxmargin implements it: the same names, numbers and memory layout,
 * so that a program made for LIBSVM runs with this library in its place. LIBSVM_VERSION says which
 * layout: 324 (libsvm.so.3, the default) or 337 (libsvm.so.4).
 *
 * Functions may be called from several threads at once, on one model too; what changes a model or
 * frees it may not. */
#ifndef _LIBSVM_H
#define _LIBSVM_H

#ifndef LIBSVM_VERSION
#define LIBSVM_VERSION 324
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern int libsvm_version;

/* A value of a row; a row ends with index -1. Indices increase. With a precomputed kernel, the
 * first node has index 0 and holds the number of the row; the others are its kernel values with
 * the rows 1, 2, ... */
struct svm_node {
  int index;
  double value;
};

struct svm_problem {
  int l; /* rows */
  double* y;
  struct svm_node** x;
};

enum { C_SVC, NU_SVC, ONE_CLASS, EPSILON_SVR, NU_SVR }; /* svm_type */
enum { LINEAR, POLY, RBF, SIGMOID, PRECOMPUTED };       /* kernel_type */

struct svm_parameter {
  int svm_type;
  int kernel_type;
  int degree;   /* POLY */
  double gamma; /* POLY, RBF, SIGMOID */
  double coef0; /* POLY, SIGMOID */

  /* For training only. */
  double cache_size; /* MB */
  double eps;        /* largest violation of the optimality conditions at the end */
  double C;          /* C_SVC, EPSILON_SVR, NU_SVR */
  int nr_weight;     /* C_SVC: factors of C for some labels */
  int* weight_label;
  double* weight;
  double nu;       /* NU_SVC, ONE_CLASS, NU_SVR */
  double p;        /* EPSILON_SVR: half width of the tube */
  int shrinking;   /* 0 or 1; of no effect here */
  int probability; /* 0 or 1 */
};

struct svm_model {
  struct svm_parameter param;
  int nr_class;         /* 2 where there are no classes */
  int l;                /* support vectors */
  struct svm_node** SV; /* [l] */
  double** sv_coef;     /* [nr_class - 1][l] */
  double* rho;          /* [nr_class * (nr_class - 1) / 2] */
  double* probA;        /* of each pair of classes; EPSILON_SVR, NU_SVR: the scale of the noise */
  double* probB;
#if LIBSVM_VERSION >= 331
  double* prob_density_marks; /* ONE_CLASS: 10 decision values */
#endif
  int* sv_indices; /* [l], rows of the training data from 1; NULL in a model that was loaded */

  /* Classes only. */
  int* label; /* [nr_class] */
  int* nSV;   /* [nr_class], in sum l */

  int free_sv; /* 1: the model owns SV[0], as after svm_load_model; 0: SV points into the problem */
};

/* The support vectors of the model are rows of `prob`, which must be kept as long as the model.
 * NULL, and a message on standard error, where data and parameters do not fit (see
 * svm_check_parameter). */
struct svm_model* svm_train(const struct svm_problem* prob, const struct svm_parameter* param);
/* Fills target[prob->l]; rows are shuffled with rand(). */
void svm_cross_validation(const struct svm_problem* prob, const struct svm_parameter* param,
                          int nr_fold, double* target);

int svm_save_model(const char* model_file_name, const struct svm_model* model); /* 0: done */
struct svm_model* svm_load_model(const char* model_file_name); /* NULL: cannot be used */

int svm_get_svm_type(const struct svm_model* model);
int svm_get_nr_class(const struct svm_model* model);
void svm_get_labels(const struct svm_model* model, int* label);
void svm_get_sv_indices(const struct svm_model* model, int* sv_indices);
int svm_get_nr_sv(const struct svm_model* model);
double svm_get_svr_probability(const struct svm_model* model);

/* dec_values has room for nr_class * (nr_class - 1) / 2 numbers, prob_estimates for nr_class. */
double svm_predict_values(const struct svm_model* model, const struct svm_node* x,
                          double* dec_values);
double svm_predict(const struct svm_model* model, const struct svm_node* x);
double svm_predict_probability(const struct svm_model* model, const struct svm_node* x,
                               double* prob_estimates);

void svm_free_model_content(struct svm_model* model_ptr);
void svm_free_and_destroy_model(struct svm_model** model_ptr_ptr);
void svm_destroy_param(struct svm_parameter* param);

/* NULL: parameters and data are fine. Otherwise what is wrong, in LIBSVM's words where it has some;
 * the text is never freed. */
const char* svm_check_parameter(const struct svm_problem* prob, const struct svm_parameter* param);
int svm_check_probability_model(const struct svm_model* model);

/* Where training prints to; NULL: standard output. */
void svm_set_print_string_function(void (*print_func)(const char*));

#ifdef __cplusplus
}
#endif

#endif
