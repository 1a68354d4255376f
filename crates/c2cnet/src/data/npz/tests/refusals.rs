//! Files that are refused, and what is said about them.

use super::{archive, assert_says, f8, file, npy, raw_archive, read_bytes, read_raw_f, read_with};
use crate::data::Dataset;
use crate::data::npz::write_npz;

#[test]
fn files_that_are_no_archive() {
    assert_says(read_bytes(b""), &["data.npz", "the file is empty"]);
    assert_says(read_bytes(b"a,b\n1,2\n"), &["not an npz file"]);
    let array = npy("'<f8'", "False", "(1,)", &f8(&[0.0]));
    assert_says(read_bytes(&array), &["single .npy array", "np.savez"]);
    let whole = archive(&|npz| npz.put_f64("x", &[100], (0..100).map(f64::from)));
    assert_says(read_bytes(&whole[..whole.len() / 2]), &["truncated"]);
    let missing = tempfile::tempdir().unwrap().path().join("none.npz");
    assert_says(Dataset::read_npz(&missing), &["none.npz"]);
}

#[test]
fn damaged_entries() {
    let mut bytes = archive(&|npz| {
        npz.put_f64("x", &[2], [0.0, 1.0])?;
        npz.put_f64("f", &[1, 2], [123.0, 124.0])
    });
    let at = bytes
        .windows(8)
        .position(|w| w == 123f64.to_le_bytes())
        .unwrap();
    bytes[at] ^= 1;
    assert_says(read_bytes(&bytes), &["`f` is damaged", "checksum"]);
    let entry = |f: Vec<u8>| {
        let x = npy("'<f8'", "False", "(2,)", &f8(&[0.0, 1.0]));
        read_bytes(&raw_archive(&[("x.npy", x), ("f.npy", f)]))
    };
    assert_says(entry(b"hello".to_vec()), &["`f` is not a NumPy array"]);
    assert_says(
        entry(b"hello, you world".to_vec()),
        &["`f` is not a NumPy array"],
    );
    assert_says(
        entry(npy("'<f8'", "False", "((((", &[])),
        &["`f` is not a NumPy array"],
    );
    let huge = "(4294967296, 4294967296, 4294967296)";
    assert_says(
        entry(npy("'<f8'", "False", huge, &[])),
        &["`f`", "4294967296"],
    );
    assert_says(
        entry(npy("'<f8'", "False", "(1, 2)", &[0; 9])),
        &["cut short", "of 2"],
    );
    assert_says(
        entry(npy("'<f8'", "False", "(1, 2)", &[0; 17])),
        &["more data", "(1, 2)"],
    );
}

#[test]
fn types_that_are_not_numbers() {
    assert_says(
        read_raw_f("'|O'", "False", "(1, 2)", b"\x80\x04]."),
        &["`f`", "pickle", "x_count"],
    );
    assert_says(
        read_raw_f("'<c32'", "False", "(1, 2)", &[0; 64]),
        &["`f` has dtype <c32", "astype('c16')"],
    );
    assert_says(
        read_raw_f("'<f16'", "False", "(1, 2)", &[0; 32]),
        &["`f` has dtype <f16", "astype('f8')"],
    );
    assert_says(
        read_raw_f("'<M8[ns]'", "False", "(1, 2)", &[0; 16]),
        &["`f` holds dates or times", "timedelta64"],
    );
    assert_says(
        read_raw_f("'<U1'", "False", "(1, 2)", &[65, 0, 0, 0, 65, 0, 0, 0]),
        &["`f` holds text"],
    );
    assert_says(
        read_raw_f("[('a', '<f8')]", "False", "(1, 2)", &[0; 16]),
        &["`f`", "structured"],
    );
}

#[test]
fn booleans_and_halves_are_numbers() {
    let first = |data: crate::Result<Dataset>| data.unwrap().inputs[0].1.values_of(0);
    assert_eq!(
        first(read_raw_f("'|b1'", "False", "(1, 2)", &[0, 1])),
        [0.0, 1.0]
    );
    // 1 and -2^-24, the smallest one.
    let halves = [0x00, 0x3c, 0x01, 0x80];
    let read = first(read_raw_f("'<f2'", "False", "(1, 2)", &halves));
    assert_eq!(read, [1.0, -(2f64.powi(-24))]);
    let most = first(read_raw_f(
        "'<f2'",
        "False",
        "(1, 2)",
        &[0xff, 0x7b, 0x55, 0x35],
    ));
    assert_eq!(most[0], 65504.0);
    assert!((most[1] - 1.0 / 3.0).abs() < 1e-3);
    let infinite = read_raw_f("'<f2'", "False", "(1, 2)", &[0x00, 0x7c, 0, 0]);
    assert_says(infinite, &["inf", "nothing can be computed with it"]);
}

#[test]
fn unknown_missing_and_unused_keys() {
    let extra = |key: &'static str| read_with(&move |npz| npz.put_f64(key, &[1], [0.0]));
    assert_says(extra("X"), &["`X`", "did you mean `x`?"]);
    assert_says(extra("ntrain"), &["did you mean `n_train`?"]);
    assert_says(
        extra("note"),
        &["`note` (leave it out, or put it into `meta`"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("U", &[1], [0.0])),
        &["`U`", "known are x, f"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("meta.a", &[1], [0.0])),
        &["`meta.a`"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("u", &[3, 1], [0.0; 3])),
        &["`u` needs its points `y`", "without points is called `q`"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("x.a", &[1], [0.0])),
        &["`x.a` is not used", "`f.a`"],
    );
    assert_says(
        read_with(&|npz| {
            npz.put_i64("y_count.a", &[1], [0]).and_then(|()| {
                npz.put_f64("y", &[1], [0.0])?;
                npz.put_f64("u", &[3, 1], [0.0; 3])
            })
        }),
        &["`y_count.a` is not used"],
    );
    let only_y = archive(&|npz| npz.put_f64("y", &[1], [0.0]));
    assert_says(
        read_bytes(&only_y),
        &["no input values `f`", "its keys are y"],
    );
}

#[test]
fn names_of_other_programs_are_told_from_points() {
    let read = |keys: &[&str]| {
        read_bytes(&archive(&|npz| {
            keys.iter()
                .try_for_each(|key| npz.put_f64(key, &[3, 2], [0.0; 6]))
        }))
    };
    let save = "save x=points, f=inputs, y=points, u=outputs";
    for (keys, said) in [
        (&["x", "y"][..], "x and y are points;"),
        (&["X", "Y"], "X and Y are not known;"),
        (&["inputs", "outputs"], "inputs and outputs are not known;"),
        (
            &["x_train", "y_train", "x_test", "y_test"],
            "x_train and y_train are not known;",
        ),
        (&["arr_0", "arr_1"], "np.savez was called without names;"),
        (&["arr_0"], "np.savez was called without names;"),
    ] {
        assert_says(read(keys), &["data.npz: ", said, save]);
    }
    // Where there are values, a name is a mistake of its own.
    assert_says(read(&["f", "X", "Y"]), &["unknown key `X`"]);
    assert_says(read(&["x"]), &["`x` is not used"]);
}

#[test]
fn vectors_that_do_not_fit() {
    assert_says(
        read_with(&|npz| npz.put_f64("p", &[3, 2, 1], [0.0; 6])),
        &[
            "`p`",
            "(3, 2, 1)",
            "a vector per sample",
            "a function needs points `x` and values `f`",
        ],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("q", &[3, 2, 1], [0.0; 6])),
        &["`q`", "points `y` and values `u`"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("p.a", &[3, 2], [0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0])),
        &["`p.a`", "NaN at sample 1, column 1", "repair"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("p", &[2, 3], [0.0; 6])),
        &["`p` has 2 samples", "`f` has 3"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("q", &[4], [0.0; 4])),
        &["`q` has 4 samples", "`f` has 3"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("p", &[3, 0], [])),
        &["`p`", "(3, 0)", "empty"],
    );
    assert_says(
        read_with(&|npz| {
            npz.put_f64("p", &[3], [0.0; 3])?;
            npz.put_f64("p.p", &[3], [0.0; 3])
        }),
        &["`p.p` and `p` would both be called \"p\"", "rename"],
    );
    assert_says(
        read_with(&|npz| {
            npz.put_f64("p.a", &[3], [0.0; 3])?;
            npz.put_f64("f.a", &[3, 2], [0.0; 6])
        }),
        &["`f.a` and `p.a`", "\"a\"", "rename"],
    );
    // Points that no function uses are no points of a vector.
    assert_says(
        read_with(&|npz| {
            npz.put_f64("q", &[3], [0.0; 3])?;
            npz.put_f64("y", &[2], [0.0; 2])
        }),
        &["`y` is not used", "`u`"],
    );
}

#[test]
fn shapes_that_do_not_fit() {
    let read = |x: &[usize], f: &[usize]| {
        let zeros = |shape: &[usize]| vec![0.0; shape.iter().product()];
        read_bytes(&archive(&|npz| {
            npz.put_f64("x", x, zeros(x))?;
            npz.put_f64("f", f, zeros(f))
        }))
    };
    assert_says(
        read(&[5, 1], &[3, 4]),
        &["`x`", "(5, 1)", "(4,), (4, dimensions) or", "(3, 4)"],
    );
    assert_says(read(&[3, 4], &[3, 4]), &["third axis"]);
    assert_says(
        read(&[2, 4, 1], &[3, 4]),
        &["`x`", "(2, 4, 1)", "(3, 4, dimensions)"],
    );
    assert_says(read(&[4], &[4]), &["`f`", "(samples, points)", "(4,)"]);
    // The fact comes first, what to do last.
    let transposed = read(&[101], &[101, 30]).unwrap_err().to_string();
    assert!(
        transposed.contains("`f`: found shape (101, 30), expected (samples, points)")
            && transposed.ends_with("f looks transposed, save f.T"),
        "{transposed}"
    );
    assert_says(read(&[101, 1], &[30, 2, 101]), &["np.moveaxis(f, 1, -1)"]);
    assert_says(read(&[30, 101], &[101]), &["are x and f swapped?"]);
    assert_says(read(&[4], &[4]), &["for a single sample save f[None]"]);
    assert_says(read(&[1, 101], &[30, 101]), &["save x.ravel()"]);
    assert_says(read(&[3, 4], &[3, 4]), &["save x[..., None]"]);
    assert_says(read(&[4], &[0, 4]), &["`f`", "(0, 4)", "empty"]);
    assert_says(read(&[0, 2], &[3, 0]), &["`f`", "(3, 0)", "empty"]);
    assert_says(
        read_with(&|npz| {
            npz.put_f64("y", &[1], [0.0])?;
            npz.put_f64("u", &[2, 1], [0.0; 2])
        }),
        &["`u` has 2 samples", "`f` has 3"],
    );
    assert_says(
        read_with(&|npz| npz.put_i64("x_count", &[3], [1; 3])),
        &["`x_count`", "shared"],
    );
}

#[test]
fn values_that_are_not_finite_are_placed() {
    let u = [0.0, 1.0, 2.0, f64::NAN, 4.0, 5.0];
    assert_says(
        read_with(&|npz| {
            npz.put_f64("y", &[2], [0.0, 1.0])?;
            npz.put_f64("u", &[3, 2], u)
        }),
        &["`u`", "sample 1, point 1", "NaN"],
    );
    assert_says(
        read_with(&|npz| {
            npz.put_f64("y", &[2], [0.0, f64::NAN])?;
            npz.put_f64("u", &[3, 2], [0.0; 6])
        }),
        &["`y`", "point 1, coordinate 0"],
    );
}

#[test]
fn splits_triangles_and_meta_out_of_range() {
    for n in [-1, 0, 4] {
        assert_says(
            read_with(&|npz| npz.put_i64("n_train", &[], [n])),
            &["`n_train`", "1 and", "3"],
        );
    }
    assert_says(
        read_with(&|npz| npz.put_i64("n_train", &[2], [1, 2])),
        &["`n_train`", "(2,)"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("n_train", &[], [2.0])),
        &["`n_train` holds floats"],
    );
    assert_says(
        read_with(&|npz| npz.put_i64("split", &[2], [0, 1])),
        &["`split`", "(3,)", "(2,)"],
    );
    assert_says(
        read_with(&|npz| npz.put_i64("split", &[3], [0, 1, 0])),
        &["`split`", "split_names"],
    );
    assert_says(
        read_with(&|npz| {
            npz.put_i64("split", &[3], [0, 0, 1])?;
            npz.put_str("meta", "{\"split_names\": [\"train\"]}")
        }),
        &["`split` is 1 for sample 2"],
    );
    assert_says(
        read_with(&|npz| npz.put_str("meta", "{'a': 1}")),
        &["`meta` is not JSON", "json.dumps"],
    );
    let entry = |key: &str, array| {
        let x = npy("'<f8'", "False", "(2,)", &f8(&[0.0, 1.0]));
        let f = npy("'<f8'", "False", "(1, 2)", &f8(&[0.0, 1.0]));
        read_bytes(&raw_archive(&[
            ("x.npy", x),
            ("f.npy", f),
            (&format!("{key}.npy"), array),
        ]))
    };
    let object = npy("'|O'", "False", "()", b"a dictionary");
    assert_says(
        entry("meta", object),
        &["`meta` is a Python object", "meta=json.dumps(meta)"],
    );
    assert_says(
        read_with(&|npz| npz.put_f64("meta", &[], [1.0])),
        &["`meta` must be one string"],
    );
    for (corner, parts) in [(2, ["point 2", "0 and 1"]), (-1, ["point -1", "0 and 1"])] {
        let read = read_with(&|npz| {
            npz.put_f64("y", &[2], [0.0, 1.0])?;
            npz.put_f64("u", &[3, 2], [0.0; 6])?;
            npz.put_i64("triangles", &[1, 3], [0, 1, corner])
        });
        assert_says(read, &[&["`triangles`", "row 0"], &parts[..]].concat());
    }
    assert_says(
        read_with(&|npz| npz.put_i64("triangles", &[2, 2], [0; 4])),
        &["`triangles`", "(2, 2)"],
    );
}

#[test]
fn a_failed_write_leaves_the_target_alone() {
    let (_folder, path) = file(b"old");
    let error = write_npz(&path, |npz| npz.put_f64("x", &[3], [0.0; 2])).unwrap_err();
    assert!(error.to_string().contains("data.npz"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}
