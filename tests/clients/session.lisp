;; Trains and predicts by CLISP's module for LIBSVM, every type but one-class (whose free rows are on the boundary), on the rows of the file "data".
(require "libsvm")
(multiple-value-setq (problem width) (libsvm:load-problem "data"))
(setq rows (libsvm:problem-l problem))
(dolist (type (list libsvm:C_SVC libsvm:NU_SVC libsvm:EPSILON_SVR libsvm:NU_SVR))
  (setq parameter (libsvm:make-parameter 'libsvm::svm_type type 'libsvm::gamma 1d0
                                         'libsvm::nu 0.3d0 'libsvm::eps 1d-6))
  (princ "type ") (princ type) (princ (libsvm:check-parameter problem parameter)) (terpri)
  (setq model (libsvm:train problem parameter))
  (princ "predicted")
  (dotimes (i rows) (princ " ") (princ (/ (round (* 100 (libsvm:predict model (libsvm:problem-x-n problem i)))) 100d0)))
  (terpri))
