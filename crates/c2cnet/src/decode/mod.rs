//! Output spaces: evaluation anywhere, orthonormal coordinates, and the smallest error a basis allows.
//!
//! At fitted points $\Psi = U\Sigma V^\top$, cut at a numerical rank $r$. Coordinates $c = U^\top u$
//! are orthonormal, so the loss depends on $r$ numbers per sample:
//! $$\|\Psi b - u\|^2 = \|\hat c - c\|^2 + \|u - UU^\top u\|^2,\qquad b = V\Sigma^{-1}\hat c.$$
//! The last term is the floor (`prop:output-space-lower-bound` of the paper): no map can go below it.

mod evaluation;
mod field_decoder;
mod own_points;
mod projection;
mod readings;
mod residuals;
mod retained;
mod shared_points;
mod space;
pub(crate) mod targets;
mod vector;
pub(crate) mod withheld;

pub(crate) use evaluation::Evaluation;
pub(crate) use field_decoder::FieldDecoder;
pub(crate) use projection::Projection;
pub(crate) use readings::SampleTarget;
pub(crate) use residuals::Residuals;
pub(crate) use targets::Targets;
pub(crate) use vector::VectorDecoder;
pub(crate) use withheld::{Withheld, draw_without_corners, enough_to_withhold};

#[cfg(test)]
mod tests;
