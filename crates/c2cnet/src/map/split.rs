//! Samples that are fitted and samples that are held out.

/// Which training samples are fitted and which are held out, in a seeded order.
#[derive(Debug, Clone)]
pub struct Split {
    /// Those that are fitted.
    pub train: Vec<usize>,
    /// Those that are held out.
    pub validation: Vec<usize>,
}

impl Split {
    /// None of `samples` held out.
    pub fn all(samples: usize) -> Self {
        Split {
            train: (0..samples).collect(),
            validation: Vec::new(),
        }
    }
}
