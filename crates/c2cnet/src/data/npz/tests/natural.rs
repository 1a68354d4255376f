//! Grids in their natural shape, complex values, missing readings.

use super::{archive, assert_says, f8, file, npy, raw_archive, read_bytes};
use crate::Result;
use crate::data::{Dataset, Missing, points_file::read_output_points, read_points};

fn ramp(shape: &[usize]) -> Vec<f64> {
    (0..shape.iter().product::<usize>())
        .map(|i| i as f64)
        .collect()
}

/// A grid of 2 x 3 points, by its axes or by all of its points, and values of this shape.
fn read_grid(by_axes: bool, shape: &[usize]) -> crate::Result<Dataset> {
    read_bytes(&archive(&|npz| {
        if by_axes {
            npz.put_f64("x0", &[2], [0.0, 1.0])?;
            npz.put_f64("x1", &[3], [5.0, 6.0, 7.0])?;
        } else {
            let points = [0.0, 5.0, 0.0, 6.0, 0.0, 7.0, 1.0, 5.0, 1.0, 6.0, 1.0, 7.0];
            npz.put_f64("x", &[2, 3, 2], points)?;
        }
        npz.put_f64("f", shape, ramp(shape))
    }))
}

#[test]
fn a_grid_is_read_in_its_shape_and_written_in_it() {
    for by_axes in [true, false] {
        let data = read_grid(by_axes, &[4, 2, 3, 2]).unwrap();
        let field = &data.inputs[0].1;
        assert_eq!((field.samples(), field.components()), (4, 2));
        let points = field.shared_points().unwrap();
        assert_eq!(points.shape(), [2, 3]);
        assert_eq!(points.point(4), [1.0, 6.0]);
        // Sample 1, point (1, 1), component 1.
        assert_eq!(field.component_of(1, 1)[4], 12.0 + 2.0 * 4.0 + 1.0);
        let (_folder, path) = file(b"");
        data.write_npz(&path).unwrap();
        let shapes = crate::data::npz::contents::array_shapes(&path).unwrap();
        assert_eq!(shapes[0], ("x".into(), vec![2, 3, 2]));
        assert_eq!(shapes[1], ("f".into(), vec![4, 2, 3, 2]));
        let again = Dataset::read_npz(&path).unwrap();
        assert_eq!(again.fingerprint(), data.fingerprint());
    }
}

#[test]
fn shapes_that_fit_no_grid_say_what_does() {
    assert_says(
        read_grid(true, &[4, 3, 2]),
        &["`f`", "(samples, 2, 3)", "`x0`, `x1`", "(4, 3, 2)"],
    );
    assert_says(read_grid(false, &[4, 6, 6]), &["`x`", "(2, 3, 2)"]);
    let listed = |f: &[usize]| {
        read_bytes(&archive(&|npz| {
            npz.put_f64("x", &[6, 2], ramp(&[6, 2]))?;
            npz.put_f64("f", f, ramp(f))
        }))
    };
    assert_says(
        listed(&[4, 2, 3]),
        &["f.reshape(len(f), -1)", "`x0`", "(4, 2, 3)"],
    );
    assert_says(
        read_bytes(&archive(&|npz| {
            npz.put_f64("x", &[2, 2, 2], ramp(&[2, 2, 2]))?;
            npz.put_f64("f", &[2, 2, 2], ramp(&[2, 2, 2]))
        })),
        &["may be a grid or points of each sample", "`x0`"],
    );
    assert_says(
        read_bytes(&archive(&|npz| {
            npz.put_f64("x0", &[2], [0.0, 1.0])?;
            npz.put_f64("x2", &[2], [0.0, 1.0])?;
            npz.put_f64("f", &[1, 2], [0.0, 1.0])
        })),
        &["`x2` is an axis of a grid", "from `x0`"],
    );
    assert_says(
        read_bytes(&archive(&|npz| {
            npz.put_f64("x", &[2], [0.0, 1.0])?;
            npz.put_f64("x0", &[2], [0.0, 1.0])?;
            npz.put_f64("f", &[1, 2], [0.0, 1.0])
        })),
        &["`x` and `x0` both give"],
    );
}

/// What to do comes last, and nothing behind it.
fn ends_with<T: std::fmt::Debug>(result: Result<T>, parts: &[&str], end: &str) {
    let message = result.expect_err("this must fail").to_string();
    let has_all = parts.iter().all(|part| message.contains(part));
    assert!(
        has_all && message.ends_with(end),
        "{message:?}: {parts:?}, {end:?}"
    );
}

#[test]
fn slips_with_grids_are_told_what_to_save() {
    let by_axes = |f: &[usize]| {
        read_bytes(&archive(&|npz| {
            npz.put_f64("x0", &[4], ramp(&[4]))?;
            npz.put_f64("x1", &[3], ramp(&[3]))?;
            npz.put_f64("f", f, ramp(f))
        }))
    };
    let fits = "to fit the axes `x0`, `x1`: ";
    for (shape, save) in [
        (
            &[5, 3, 4][..],
            "the axes look swapped, save x1 as x0 and x0 as x1",
        ),
        (
            &[5, 2, 4, 3],
            "components come last, save np.moveaxis(f, 1, -1)",
        ),
        (&[4, 3, 5], "samples come first, save np.moveaxis(f, -1, 0)"),
        (&[4, 3], "for a single sample save f[None]"),
        (&[5, 12], "save f.reshape(5, 4, 3)"),
    ] {
        ends_with(by_axes(shape), &["`f`"], &format!("{fits}{save}"));
    }
    let by_mesh = |x: &[usize], f: &[usize]| {
        read_bytes(&archive(&|npz| {
            npz.put_f64("x", x, ramp(x))?;
            npz.put_f64("f", f, ramp(f))
        }))
    };
    let f = [5, 4, 3];
    for (shape, save) in [
        (&[3, 4, 2], "indexing=\"ij\"; save x.swapaxes(0, 1)"),
        (
            &[2, 4, 3],
            "the coordinates belong last; save np.moveaxis(x, 0, -1)",
        ),
        (
            &[2, 3, 4],
            "indexing=\"ij\"; save np.moveaxis(x, 0, -1).swapaxes(0, 1)",
        ),
    ] {
        ends_with(by_mesh(shape, &f), &["`x`", "(4, 3, 2) to fit `f`"], save);
    }
    for (shape, save) in [
        (&[5, 2, 4, 3][..], "save np.moveaxis(f, 1, -1)"),
        (&[5, 12], "save f.reshape(5, 4, 3)"),
    ] {
        let said = ["`f`", "to fit the points `x` of shape (4, 3, 2): ", save];
        assert_says(by_mesh(&[4, 3, 2], shape), &said);
    }
    let turned = by_mesh(&[4, 3, 6, 3], &[5, 6, 4, 3]);
    assert_says(turned, &["swapped, save f.transpose(0, 2, 3, 1)"]);
    let both = |x: usize, y: usize| {
        read_bytes(&archive(&|npz| {
            npz.put_f64("x", &[x], ramp(&[x]))?;
            npz.put_f64("f", &f, ramp(&f))?;
            npz.put_f64("y", &[y], ramp(&[y]))?;
            npz.put_f64("u", &f, ramp(&f))
        }))
    };
    let says = "as x0 and x1 for inputs and as y0 and y1 for outputs";
    assert_says(
        both(4, 3),
        &["`u` of shape (5, 4, 3)", says, "(x0=x, x1=y, y0=x, y1=y)"],
    );
    assert_says(
        both(3, 4),
        &["`f` of shape (5, 4, 3)", says, "(x0=y, x1=x, y0=y, y1=x)"],
    );
}

#[test]
fn grids_to_predict_at_are_read_too() {
    let (_folder, path) = file(&archive(&|npz| {
        npz.put_f64("y0", &[2], [0.0, 1.0])?;
        npz.put_f64("y1", &[2], [0.0, 1.0])?;
        npz.put_f64("y.other", &[2, 2, 2], ramp(&[2, 2, 2]))
    }));
    let all = read_output_points(&path).unwrap();
    let shapes: Vec<_> = all.iter().map(|(n, p)| (n.as_str(), p.shape())).collect();
    assert_eq!(shapes, [("", vec![2, 2]), ("other", vec![2, 2])]);
    assert_eq!(read_points(&path).unwrap().shape(), [2, 2]);
}

#[test]
fn complex_values_are_pairs_of_components() {
    let numbers = f8(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let read = |descr: &str, fortran: &str| {
        let x = npy("'<f8'", "False", "(2,)", &f8(&[0.0, 1.0]));
        let f = npy(descr, fortran, "(2, 2)", &numbers);
        read_bytes(&raw_archive(&[("x.npy", x), ("f.npy", f)]))
    };
    let data = read("'<c16'", "False").unwrap();
    let field = &data.inputs[0].1;
    assert!(field.is_complex() && field.components() == 2);
    assert_eq!(field.values_of(0), [1.0, 3.0, 2.0, 4.0]);
    let turned = read("'<c16'", "True").unwrap();
    assert_eq!(turned.inputs[0].1.values_of(0), [1.0, 5.0, 2.0, 6.0]);
    let (_folder, path) = file(b"");
    data.write_npz(&path).unwrap();
    let again = Dataset::read_npz(&path).unwrap();
    assert!(again.inputs[0].1.is_complex());
    assert_eq!(again.fingerprint(), data.fingerprint());
    let x = npy("'<c16'", "False", "(1,)", &f8(&[0.0, 1.0]));
    let f = npy("'<f8'", "False", "(2, 1)", &f8(&[0.0, 1.0]));
    let refused = read_bytes(&raw_archive(&[("x.npy", x), ("f.npy", f)]));
    assert_says(refused, &["`x` is complex", "real part"]);
}

#[test]
fn missing_readings_are_left_out_when_asked() {
    let bytes = archive(&|npz| {
        npz.put_f64("x", &[3], [0.0, 0.5, 1.0])?;
        npz.put_f64("f", &[2, 3], [1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0])
    });
    assert_says(read_bytes(&bytes), &["sample 0, point 1", "--missing nan"]);
    let (_folder, path) = file(&bytes);
    let data = Dataset::read_npz_with(&path, Missing::Nan).unwrap();
    let field = &data.inputs[0].1;
    assert_eq!(field.points_of(0).coords(), [0.0, 1.0]);
    assert_eq!(field.values_of(1), [4.0, 5.0, 6.0]);
}
