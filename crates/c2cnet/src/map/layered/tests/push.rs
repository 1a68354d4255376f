//! Points pushed through layers, against the formula.

use super::*;
use crate::basis::{
    BasisSpec, BuildContext, FieldBasis, FourierKind, FourierSpec, PolynomialKind, PolynomialSpec,
};
use crate::data::{Bounds, Field, Points};
use crate::decode::{FieldDecoder, Withheld};
use crate::encode::{EncoderSpec, FieldEncoder, Transform, VectorSpec};
use crate::map::FieldMap;
use crate::map::layered::{Elsewhere, ValuesAtPoints};

const LINES: usize = 24;
const FUNCTIONS: usize = 7;
const SAMPLES: usize = 30;

/// Values of a polynomial and a parameter of sample `k`.
fn input(k: usize, x: f64) -> f64 {
    let a = |i: usize| ((k * 31 + i * 17) as f64 * 1.7).sin();
    2.0 + a(0) + a(1) * x + a(2) * x * x - a(3) * x.powi(3)
}

fn parameter(k: usize) -> f64 {
    (k as f64 * 0.9).cos()
}

/// Layers over one field and one parameter, whose output is known at the middles of as many intervals, and their inputs.
struct Fitted {
    encoders: Vec<(String, FieldEncoder)>,
    decoders: Vec<(String, FieldDecoder)>,
    coefficients: Mat<f64>,
    points: Points,
    map: LayeredMap,
}

fn basis(spec: impl Into<BasisSpec>, points: &Points) -> FieldBasis {
    let domain = Bounds::unit(1);
    let context = BuildContext {
        points: Some(points),
        ..BuildContext::on(&domain)
    };
    FieldBasis::separate(vec![spec.into().build(context).unwrap()]).unwrap()
}

fn fitted() -> Fitted {
    let middles = (0..LINES)
        .map(|i| (i as f64 + 0.5) / LINES as f64)
        .collect();
    let points = Points::new(1, middles).unwrap();
    let at = |i: usize| points.point(i)[0];
    let f = Mat::from_fn(LINES, SAMPLES, |i, k| input(k, at(i)));
    let f = Field::shared(points.clone(), vec![f]).unwrap();
    let p = Field::vector(Mat::from_fn(1, SAMPLES, |_, k| parameter(k)).as_ref()).unwrap();
    let u = Mat::from_fn(LINES, SAMPLES, |i, k| {
        input(k, at(i)).powi(2) + parameter(k) * (at(i) - 0.3).abs()
    });
    let field = Field::shared(points.clone(), vec![u.clone()]).unwrap();
    let polynomials = basis(PolynomialSpec::new(PolynomialKind::Legendre, 4), &points);
    let spec = EncoderSpec::ridge(1e-14);
    let (encoder, a) = FieldEncoder::fit(polynomials, &spec, Transform::None, &f).unwrap();
    let (vector, b) =
        FieldEncoder::fit_vector(&VectorSpec::default(), Transform::None, &p).unwrap();
    let few = basis(FourierSpec::new(FourierKind::Cosine, 5), &points);
    let (decoder, targets) =
        FieldDecoder::fit(few, &field, &Withheld::none(), &[1e-10], 0).unwrap();
    let cosines = basis(FourierSpec::new(FourierKind::Cosine, FUNCTIONS), &points);
    let functions =
        Functions::at_points(&cosines.parts()[0].evaluate(&points).unwrap().to_dense()).unwrap();
    let elsewhere = Elsewhere::new(cosines, &functions, &points).unwrap();
    let encoders = vec![("f".to_string(), encoder), ("p".to_string(), vector)];
    let decoders = vec![("u".to_string(), decoder)];
    let latent = Latent::new(&points, functions, &encoders, &decoders)
        .unwrap()
        .with_elsewhere(elsewhere);
    // The third point is not compared.
    let rows: Vec<usize> = (0..LINES).filter(|&i| i != 2).collect();
    let space = decoders[0].1.design_at(&points, false).unwrap();
    let values = ValuesAtPoints {
        values: linalg::select_rows(u.as_ref(), &rows),
        space: linalg::select_rows(space.as_ref(), &rows),
        rows,
    };
    let (top, below) = (a.nrows(), b.nrows());
    let coefficients = Mat::from_fn(top + below, SAMPLES, |i, k| match i < top {
        true => a[(i, k)],
        false => b[(i - top, k)],
    });
    let data = LayeredData {
        samples: TrainingData {
            coefficients: coefficients.as_ref(),
            targets: &targets,
            count: LINES,
            factor: None,
            field: None,
            per_sample: None,
        },
        latent: &latent,
        values: Some(&values),
    };
    let spec = LayeredSpec {
        rate: 1e-2,
        epochs: 30,
        precision: Precision::F64,
        ..small()
    };
    let map = LayeredMap::fit(&data, &Split::all(SAMPLES), &spec, 1, &Silent)
        .unwrap()
        .0;
    Fitted {
        encoders,
        decoders,
        coefficients,
        points,
        map,
    }
}

impl Fitted {
    /// What the network is at the points `at` for sample `k`, by the formula.
    fn by_formula(&self, k: usize, at: &[f64]) -> Vec<f64> {
        let (shape, parameters) = (&self.map.shape, &self.map.parameters);
        let places = shape.places();
        let affine = |place: &shape::Affine, x: &[f64]| -> Vec<f64> {
            let (w, b) = (&parameters[place.weights()], &parameters[place.bias()]);
            let row = |i: usize| {
                let products = (0..place.columns).map(|j| w[j * place.rows + i] * x[j]);
                b[i] + products.sum::<f64>()
            };
            (0..place.rows).map(row).collect()
        };
        let gelu = |x: &f64| 0.5 * x * (1.0 + libm_erf(x / 2f64.sqrt()));
        let psi = |j: usize, x: f64| match j {
            0 => 1.0,
            _ => 2f64.sqrt() * (std::f64::consts::PI * j as f64 * x).cos(),
        };
        let latent: Vec<f64> = self.points.coords().to_vec();
        let all = || (0..SAMPLES).flat_map(|k| latent.iter().map(move |x| input(k, *x)));
        let count = (SAMPLES * LINES) as f64;
        let mean = all().sum::<f64>() / count;
        let deviation = (all().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        let constant = self.map.latent.constant_values(self.coefficients.as_ref())[(0, k)];
        let (centre, half) = (0.5, 0.5 - 0.5 / LINES as f64);
        let everywhere: Vec<f64> = latent.iter().chain(at).copied().collect();
        let enter = |&x: &f64| {
            let entering = [
                (input(k, x) - mean) / deviation,
                constant,
                (x - centre) / half,
            ];
            affine(&places.lift, &entering)
        };
        let mut v: Vec<Vec<f64>> = everywhere.iter().map(enter).collect();
        let c = shape.channels;
        for (l, (local, modes)) in places.layers.iter().enumerate() {
            let mut added = vec![vec![0.0; c]; everywhere.len()];
            for j in 0..FUNCTIONS {
                let coefficient = |channel: usize| {
                    let values = latent.iter().zip(&v).map(|(x, v)| psi(j, *x) * v[channel]);
                    values.sum::<f64>() / LINES as f64
                };
                let coefficients: Vec<f64> = (0..c).map(coefficient).collect();
                let matrix = &parameters[modes.clone()][j * c * c..(j + 1) * c * c];
                for (x, added) in everywhere.iter().zip(&mut added) {
                    for (i, to) in added.iter_mut().enumerate() {
                        let mixed = (0..c).map(|m| matrix[m * c + i] * coefficients[m]);
                        *to += psi(j, *x) * mixed.sum::<f64>();
                    }
                }
            }
            for (v, added) in v.iter_mut().zip(&added) {
                let raw = affine(local, v);
                let raw = raw.iter().zip(added).map(|(a, b)| a + b);
                *v = match l + 1 == shape.layers {
                    true => raw.collect(),
                    false => raw.map(|x| gelu(&x)).collect(),
                };
            }
        }
        let leave = |v: &Vec<f64>| {
            let hidden: Vec<f64> = affine(&places.inner, v).iter().map(gelu).collect();
            self.map.scale * affine(&places.outer, &hidden)[0]
        };
        v[LINES..].iter().map(leave).collect()
    }

    fn added(&self, points: &Points) -> Mat<f64> {
        let coefficients = self.coefficients.as_ref();
        self.map
            .added(coefficients, &self.encoders, points)
            .unwrap()
    }
}

/// The error function by its integral: slow, and independent of the one in use.
fn libm_erf(x: f64) -> f64 {
    let n = 2000;
    let h = x / n as f64;
    let value = |i: usize| (-(h * i as f64).powi(2)).exp();
    let weight = |i: usize| {
        if i == 0 || i == n {
            1.0
        } else {
            2.0 + 2.0 * (i % 2) as f64
        }
    };
    let sum: f64 = (0..=n).map(|i| weight(i) * value(i)).sum();
    sum * h / 3.0 * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn points_are_pushed_as_the_formula_says() {
    let fitted = fitted();
    let at = [0.0, 0.0213, 0.4, 0.71828, 1.0];
    let found = fitted.added(&Points::new(1, at.to_vec()).unwrap());
    for k in [0, 17, SAMPLES - 1] {
        let expected = fitted.by_formula(k, &at);
        for (i, expected) in expected.iter().enumerate() {
            let off = (found[(i, k)] - expected).abs();
            assert!(
                off < 1e-8 * (1.0 + expected.abs()),
                "{k} at {}: {off:e}",
                at[i]
            );
        }
        assert!(expected.iter().any(|v| v.abs() > 1e-3), "it was trained");
    }
}

/// At the latent points a point pushed through the layers is one of those that went through them, and coordinates are
/// its projection.
#[test]
fn coordinates_are_those_of_pushed_latent_points() {
    let fitted = fitted();
    let values = fitted.added(&fitted.points);
    let base = fitted.map.base(fitted.coefficients.as_ref());
    let projected = linalg::mul(fitted.map.latent.projection().as_ref(), values.as_ref());
    let off = fitted.map.predict(fitted.coefficients.as_ref()) - base - projected;
    assert!(off.norm_max() < 1e-10, "{:e}", off.norm_max());
}

/// The absolute value is far from the five cosines of the output space.
#[test]
fn pushed_points_pass_the_floor_of_the_output_space() {
    let fitted = fitted();
    let (_, decoder) = &fitted.decoders[0];
    let at = &fitted.points;
    let u = |i: usize, k: usize| {
        let x = at.point(i)[0];
        input(k, x).powi(2) + parameter(k) * (x - 0.3).abs()
    };
    let u = Mat::from_fn(LINES, SAMPLES, u);
    let error = |found: Mat<f64>| (found - &u).norm_l2() / u.norm_l2();
    let base = fitted.map.base(fitted.coefficients.as_ref());
    let pushed = decoder.decode(base.as_ref(), at).unwrap().remove(0) + fitted.added(at);
    let coordinates = fitted.map.predict(fitted.coefficients.as_ref());
    let projected = decoder.decode(coordinates.as_ref(), at).unwrap().remove(0);
    let (pushed, projected) = (error(pushed), error(projected));
    assert!(pushed < projected, "{pushed:e} against {projected:e}");
}

#[test]
fn pushed_points_are_the_same_bits_from_a_file() {
    let fitted = fitted();
    let map: &dyn CoefficientMap = &fitted.map;
    let bytes = Archive::of(&map).unwrap().to_bytes().unwrap();
    let archive = Archive::from_bytes(&bytes, "map".as_ref()).unwrap();
    let loaded: Box<dyn CoefficientMap> = archive.restore("map").unwrap();
    let points = Points::new(1, vec![0.1, 0.33, 0.9]).unwrap();
    let fields = loaded.field_map().unwrap();
    let found = fields.added(fitted.coefficients.as_ref(), &fitted.encoders, &points);
    assert!(found.unwrap() == fitted.added(&points));
}
