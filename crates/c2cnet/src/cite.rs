//! What to cite: the paper, and the publications behind the parts that a fit may use.

/// A publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// What it is cited for.
    pub method: &'static str,
    /// Its BibTeX entry.
    pub bibtex: &'static str,
}

/// The paper whose method this crate implements.
pub const PAPER: Reference = Reference {
    method: "the method: regularised encoding in prescribed bases and a learned map between coefficients",
    bibtex: r"@unpublished{chen_xiang_zhang_fbc2cnet,
  title  = {Prescribed-Basis Coefficient-to-Coefficient Neural Operator for Partial Differential Equations},
  author = {Chen, Chuqi and Xiang, Yang and Zhang, Weihong},
  note   = {Preprint submitted to Journal of Computational Physics}
}",
};

pub(crate) const RANDOM_FEATURES: Reference = Reference {
    method: "random features with a partition of unity",
    bibtex: r"@article{chen2022bridging,
  title   = {Bridging Traditional and Machine Learning-Based Algorithms for Solving {PDEs}: The Random Feature Method},
  author  = {Chen, Jingrun and Chi, Xurong and E, Weinan and Yang, Zhouwang},
  journal = {Journal of Machine Learning},
  volume  = {1},
  number  = {3},
  pages   = {268--298},
  year    = {2022},
  doi     = {10.4208/jml.220726}
}",
};

pub(crate) const FINITE_ELEMENTS: Reference = Reference {
    method: "finite elements",
    bibtex: r"@book{ciarlet2002finite,
  title     = {The Finite Element Method for Elliptic Problems},
  author    = {Ciarlet, Philippe G.},
  publisher = {SIAM},
  year      = {2002},
  doi       = {10.1137/1.9780898719208}
}",
};

pub(crate) const RADIAL_FUNCTIONS: Reference = Reference {
    method: "radial functions",
    bibtex: r"@book{wendland2004scattered,
  title     = {Scattered Data Approximation},
  author    = {Wendland, Holger},
  publisher = {Cambridge University Press},
  year      = {2004},
  doi       = {10.1017/CBO9780511617539}
}",
};

pub(crate) const SPECTRAL_BASES: Reference = Reference {
    method: "trigonometric and polynomial bases",
    bibtex: r"@book{canuto2006spectral,
  title     = {Spectral Methods: Fundamentals in Single Domains},
  author    = {Canuto, Claudio and Hussaini, M. Yousuff and Quarteroni, Alfio and Zang, Thomas A.},
  publisher = {Springer},
  year      = {2006},
  doi       = {10.1007/978-3-540-30726-6}
}",
};

pub(crate) const FOURIER_NEURAL_OPERATOR: Reference = Reference {
    method: "layers of pointwise maps and of maps between coefficients",
    bibtex: r"@inproceedings{li2021fourier,
  title     = {Fourier Neural Operator for Parametric Partial Differential Equations},
  author    = {Li, Zongyi and Kovachki, Nikola B. and Azizzadenesheli, Kamyar and Liu, Burigede and Bhattacharya, Kaushik and Stuart, Andrew M. and Anandkumar, Anima},
  booktitle = {International Conference on Learning Representations},
  year      = {2021},
  url       = {https://openreview.net/forum?id=c8P9NQVtmnO}
}",
};

pub(crate) const LAPLACE_EIGENFUNCTIONS: Reference = Reference {
    method: "eigenfunctions of the Laplacian as a basis",
    bibtex: r"@article{grebenkov2013geometrical,
  title   = {Geometrical Structure of {Laplacian} Eigenfunctions},
  author  = {Grebenkov, Denis S. and Nguyen, Binh-Thanh},
  journal = {SIAM Review},
  volume  = {55},
  number  = {4},
  pages   = {601--667},
  year    = {2013},
  doi     = {10.1137/120880173}
}",
};

pub(crate) const PRINCIPAL_DIRECTIONS: Reference = Reference {
    method: "principal directions of samples as functions of a space",
    bibtex: r"@article{bhattacharya2021model,
  title   = {Model Reduction and Neural Networks for Parametric {PDEs}},
  author  = {Bhattacharya, Kaushik and Hosseini, Bamdad and Kovachki, Nikola B. and Stuart, Andrew M.},
  journal = {The SMAI Journal of Computational Mathematics},
  volume  = {7},
  pages   = {121--157},
  year    = {2021},
  doi     = {10.5802/smai-jcm.74}
}",
};

pub(crate) const CROSS_VALIDATION: Reference = Reference {
    method: "generalised cross-validation for the strength of regularisation",
    bibtex: r"@article{golub1979generalized,
  title   = {Generalized Cross-Validation as a Method for Choosing a Good Ridge Parameter},
  author  = {Golub, Gene H. and Heath, Michael and Wahba, Grace},
  journal = {Technometrics},
  volume  = {21},
  number  = {2},
  pages   = {215--223},
  year    = {1979},
  doi     = {10.1080/00401706.1979.10489751}
}",
};

pub(crate) const TRUNCATED_SVD: Reference = Reference {
    method: "truncated singular value decomposition",
    bibtex: r"@article{hansen1987truncated,
  title   = {The Truncated {SVD} as a Method for Regularization},
  author  = {Hansen, Per Christian},
  journal = {BIT Numerical Mathematics},
  volume  = {27},
  pages   = {534--553},
  year    = {1987},
  doi     = {10.1007/BF01937276}
}",
};

pub(crate) const LEARNED_PRIOR: Reference = Reference {
    method: "coefficients of sparsely sampled functions by a prior that all samples share",
    bibtex: r#"@article{yao2005functional,
  title   = {Functional Data Analysis for Sparse Longitudinal Data},
  author  = {Yao, Fang and M{\"u}ller, Hans-Georg and Wang, Jane-Ling},
  journal = {Journal of the American Statistical Association},
  volume  = {100},
  number  = {470},
  pages   = {577--590},
  year    = {2005},
  doi     = {10.1198/016214504000001745}
}"#,
};

pub(crate) const RIDGE_REGRESSION: Reference = Reference {
    method: "ridge regression",
    bibtex: r"@article{hoerl1970ridge,
  title   = {Ridge Regression: Biased Estimation for Nonorthogonal Problems},
  author  = {Hoerl, Arthur E. and Kennard, Robert W.},
  journal = {Technometrics},
  volume  = {12},
  number  = {1},
  pages   = {55--67},
  year    = {1970},
  doi     = {10.1080/00401706.1970.10488634}
}",
};

pub(crate) const KERNEL_OPERATORS: Reference = Reference {
    method: "kernel regression between function spaces",
    bibtex: r"@article{batlle2024kernel,
  title   = {Kernel Methods Are Competitive for Operator Learning},
  author  = {Batlle, Pau and Darcy, Matthieu and Hosseini, Bamdad and Owhadi, Houman},
  journal = {Journal of Computational Physics},
  volume  = {496},
  pages   = {112549},
  year    = {2024},
  doi     = {10.1016/j.jcp.2023.112549}
}",
};

pub(crate) const KERNEL_FEATURES: Reference = Reference {
    method: "kernels whose coordinates are weighted by their effect on the output",
    bibtex: r"@article{radhakrishnan2024mechanism,
  title   = {Mechanism for Feature Learning in Neural Networks and Backpropagation-Free Machine Learning Models},
  author  = {Radhakrishnan, Adityanarayanan and Beaglehole, Daniel and Pandit, Parthe and Belkin, Mikhail},
  journal = {Science},
  volume  = {383},
  number  = {6690},
  pages   = {1461--1467},
  year    = {2024},
  doi     = {10.1126/science.adi5639}
}",
};

pub(crate) const ADAM: Reference = Reference {
    method: "the optimiser Adam",
    bibtex: r"@inproceedings{kingma2015adam,
  title     = {Adam: A Method for Stochastic Optimization},
  author    = {Kingma, Diederik P. and Ba, Jimmy},
  booktitle = {International Conference on Learning Representations},
  year      = {2015},
  eprint    = {1412.6980},
  archiveprefix = {arXiv}
}",
};

pub(crate) const ADAMW: Reference = Reference {
    method: "the optimiser AdamW",
    bibtex: r"@inproceedings{loshchilov2019decoupled,
  title     = {Decoupled Weight Decay Regularization},
  author    = {Loshchilov, Ilya and Hutter, Frank},
  booktitle = {International Conference on Learning Representations},
  year      = {2019},
  eprint    = {1711.05101},
  archiveprefix = {arXiv}
}",
};

pub(crate) const GELU: Reference = Reference {
    method: "the activation GELU",
    bibtex: r"@misc{hendrycks2016gaussian,
  title  = {Gaussian Error Linear Units ({GELUs})},
  author = {Hendrycks, Dan and Gimpel, Kevin},
  year   = {2016},
  eprint = {1606.08415},
  archiveprefix = {arXiv}
}",
};
