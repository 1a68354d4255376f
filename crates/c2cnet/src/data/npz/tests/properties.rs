//! Whatever data set is written comes back, and whatever layout NumPy chooses is understood.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Finite numbers of all sizes, both zeros among them.
fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn shared_field(samples: usize) -> impl Strategy<Value = Field> {
    (1usize..5, 1usize..4, 1usize..4).prop_flat_map(move |(n, dim, components)| {
        let coords = vec(number(), n * dim);
        let values = vec(number(), n * samples * components);
        (coords, values).prop_map(move |(coords, values)| {
            let matrices = values.chunks(n * samples);
            let matrices = matrices.map(|v| Mat::from_fn(n, samples, |i, k| v[k * n + i]));
            Field::shared(Points::new(dim, coords).unwrap(), matrices.collect()).unwrap()
        })
    })
}

fn scattered_field(samples: usize) -> impl Strategy<Value = Field> {
    (1usize..4, 1usize..4, vec(1usize..5, samples)).prop_flat_map(|(dim, components, counts)| {
        let total: usize = counts.iter().sum();
        let (coords, values) = (
            vec(number(), total * dim),
            vec(number(), total * components),
        );
        (coords, values).prop_map(move |(coords, values)| {
            let (mut coords, mut values) = (coords.into_iter(), values.into_iter());
            let samples = counts.iter().map(|&n| Scattered {
                points: Points::new(dim, coords.by_ref().take(n * dim).collect()).unwrap(),
                values: values.by_ref().take(n * components).collect(),
            });
            Field::per_sample(components, samples.collect()).unwrap()
        })
    })
}

/// Up to three fields, one of which may go without a name.
fn fields(samples: usize, least: usize) -> impl Strategy<Value = Fields> {
    let field = prop_oneof![
        shared_field(samples).boxed(),
        scattered_field(samples).boxed()
    ];
    (vec(field, least..4), any::<bool>()).prop_map(|(fields, unnamed)| {
        let name = |c: usize| match c {
            0 if unnamed => String::new(),
            _ => format!("part_{c}"),
        };
        let named = fields.into_iter().enumerate();
        named.map(|(c, field)| (name(c), field)).collect()
    })
}

/// Which samples train: all, the first ones, or a set per sample.
fn split(samples: usize) -> impl Strategy<Value = (Option<usize>, Option<Vec<String>>)> {
    let names = prop_oneof![Just("train"), Just("test"), Just("né"), Just("far away")];
    prop_oneof![
        Just((None, None)),
        (1..=samples).prop_map(|n| (Some(n), None)),
        vec(names.prop_map(String::from), samples).prop_map(|names| (None, Some(names))),
    ]
}

fn dataset() -> impl Strategy<Value = Dataset> {
    (1usize..5).prop_flat_map(|samples| {
        let meta = prop_oneof![Just(Value::Null), Just(json!({"seed": 3, "text": "Gauß"}))];
        (fields(samples, 1), fields(samples, 0), split(samples), meta).prop_map(
            |(inputs, outputs, (n_train, split), meta)| Dataset {
                inputs,
                outputs,
                n_train,
                split,
                triangles: None,
                tetrahedra: None,
                meta,
            },
        )
    })
}

/// The bytes of values in C order, laid out as asked.
fn laid_out(values: &[f64], shape: [usize; 3], single: bool, fortran: bool) -> Vec<u8> {
    let [a, b, c] = shape;
    let place = |j: usize| match fortran {
        true => {
            let (i0, rest) = (j % a, j / a);
            (i0 * b + rest % b) * c + rest / b
        }
        false => j,
    };
    let ordered = (0..a * b * c).map(|j| values[place(j)]);
    match single {
        true => ordered.flat_map(|v| (v as f32).to_le_bytes()).collect(),
        false => ordered.flat_map(f64::to_le_bytes).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_data_set_comes_back(data in dataset()) {
        assert_round_trip(&data);
    }

    #[test]
    fn every_layout_is_understood(
        shape in (1usize..5, 1usize..5, 1usize..4),
        seed in vec(-1e6f32..1e6, 64),
        single in any::<bool>(),
        fortran in any::<bool>(),
    ) {
        let (samples, n, components) = shape;
        let values: Vec<f64> = (0..samples * n * components)
            .map(|i| f64::from(seed[i % 64]))
            .collect();
        let order = if fortran { "True" } else { "False" };
        let bytes = laid_out(&values, [samples, n, components], single, fortran);
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let data = read_bytes(&raw_archive(&[
            ("x.npy", npy("'<f8'", "False", &format!("({n},)"), &f8(&x))),
            (
                "f.npy",
                npy(
                    if single { "'<f4'" } else { "'<f8'" },
                    order,
                    &format!("({samples}, {n}, {components})"),
                    &bytes,
                ),
            ),
        ]))
        .unwrap();
        let field = &data.inputs[0].1;
        for k in 0..samples {
            let found = field.values_of(k);
            for i in 0..n {
                for c in 0..components {
                    let expected = values[(k * n + i) * components + c];
                    prop_assert_eq!(found[c * n + i], expected, "sample {}, point {}", k, i);
                }
            }
        }
    }
}
