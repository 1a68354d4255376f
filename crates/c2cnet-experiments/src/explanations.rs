//! What tables of errors say about each, on terminals and pages alike.

pub const RL2E: &str = "mean relative L2 error, |prediction - truth| / |truth|";
pub const FLOOR: &str = "the smallest RL2E that the output basis allows, with a perfect map";
pub const LINEAR: &str = "RL2E of a linear map of the same coefficients";
pub const MEAN: &str = "RL2E of predicting the mean training output, whatever the input";
pub const WORST: &str = "RL2E of the worst sample";
