use super::read::parse;
use super::write;
use crate::Names;
use c2cnet::data::{Dataset, Missing};

fn parsed(text: &str) -> Result<Dataset, String> {
    parse(text.as_bytes(), &Names::default(), Missing::Refuse)
}

fn back(data: &Dataset) -> Dataset {
    parse(&write(data).unwrap(), &Names::default(), Missing::Refuse).unwrap()
}

#[test]
fn sensors_of_each_sample_with_gaps_and_sets() {
    let text =
        "sample,split,x,y,f,u[0],u[1]\nb,train,0,1,5,1,2\nb,train,1,1,6,,\na,test,0,1,7,3,4\n";
    let data = parsed(text).unwrap();
    let f = data.inputs.get("").unwrap();
    assert_eq!((f.samples(), f.dim(), f.shared_points()), (2, 2, None));
    assert_eq!(
        (f.values_of(0), f.values_of(1)),
        (vec![5.0, 6.0], vec![7.0])
    );
    let u = data.outputs.get("").unwrap();
    assert_eq!(u.shared_points().unwrap().coords(), [0.0, 1.0]);
    assert_eq!(u.values_of(1), [3.0, 4.0]);
    assert_eq!(data.split.as_ref().unwrap(), &["train", "test"]);
    assert_eq!(back(&data).fingerprint(), data.fingerprint());
}

#[test]
fn output_points_of_their_own_names_and_vectors() {
    let text = "sample;x0;y0;f.a;f.b;u;p[0];p[1]\n0;0;0.5;1;2;3;7;8\n0;1;;1.5;2.5;;;\n";
    let data = parsed(text).unwrap();
    let named = |name: &str| data.inputs.get(name).unwrap().values_of(0);
    assert_eq!((named("a"), named("b")), (vec![1.0, 1.5], vec![2.0, 2.5]));
    assert_eq!(named(""), [7.0, 8.0]);
    assert_eq!(data.outputs.get("").unwrap().points_of(0).coords(), [0.5]);
}

#[test]
fn a_table_of_parameters_has_a_row_per_sample() {
    let data = parsed("# made by hand\np[0],p[1],q\n1,2,3\n4,5,6\n").unwrap();
    assert_eq!(data.samples(), 2);
    assert_eq!(data.outputs.get("").unwrap().values_of(1), [6.0]);
    assert_eq!(back(&data).fingerprint(), data.fingerprint());
}

#[test]
fn own_names_of_columns() {
    let names = Names {
        inputs: vec!["wind".into()],
        outputs: vec!["wave".into()],
        points: vec!["lon".into(), "lat".into()],
        sample: None,
        ..Names::default()
    };
    let text = b"lat,lon,wind,wave,note\n1,2,3,4,hello\n";
    let data = parse(text, &names, Missing::Refuse).unwrap();
    let (f, u) = (data.inputs.get("").unwrap(), data.outputs.get("").unwrap());
    assert_eq!(
        (f.points_of(0).coords(), f.values_of(0)),
        (&[2.0, 1.0][..], vec![3.0])
    );
    assert_eq!(u.values_of(0), [4.0]);
    let error = parse(b"a,b\n1,2\n", &names, Missing::Refuse).unwrap_err();
    assert!(
        error.contains("\"lon\"") && error.contains("a, b"),
        "{error}"
    );
}

#[test]
fn mistakes_are_named_by_line_and_column() {
    for (text, part) in [
        (
            "x,f,u\n0,1,oops\n",
            "line 2 holds \"oops\" in the column \"u\"",
        ),
        ("x,f,u\n0,1,nan\n", "leave a cell empty"),
        ("x,f,speed\n0,1,2\n", "\"speed\""),
        ("f,u\n1,2\n", "without coordinates"),
        ("x,y\n1,2\n", "neither functions"),
        ("x,f[1]\n1,2\n", "component 0 of f"),
        ("x,f,u\n0,1\n", "line 2 has 2 cells, the header 3"),
        ("x;f;u\n0;0,5;1\n", "a decimal point, not a comma"),
        ("x,f,u\n0,inf,1\n", "not a finite number"),
        ("0,1,2\n1,2,3\n", "its first line must name the columns"),
        ("sample,x,f,y,u\n0,1,2,3,4\n", "call them x0 and x1"),
        ("x,y,f\n0,,1\n", "line 2 has only some of its coordinates"),
        ("sample,x,f,p\n0,0,1,2\n0,1,1,3\n", "line 3 has 3 in p"),
        ("x,f\n", "no rows"),
        ("", "neither functions"),
    ] {
        let error = parsed(text).expect_err(text);
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

#[test]
fn names_in_capitals_and_a_column_of_samples_with_another_name() {
    let data = parsed("Sample,X,F,U\n0,0,1,2\n1,0,3,4\n").unwrap();
    assert_eq!((data.samples(), data.inputs[0].1.dim()), (2, 1));
    let names = Names {
        inputs: vec!["salinity".into()],
        outputs: vec!["sound".into()],
        points: vec!["depth".into()],
        sample: Some("run".into()),
        ..Names::default()
    };
    let text = b"run,depth,salinity,sound,note\n0,0,1,2,a\n1,0,3,4,b\n";
    let data = parse(text, &names, Missing::Refuse).unwrap();
    assert_eq!(data.samples(), 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    std::fs::write(&path, text).unwrap();
    assert_eq!(super::ignored(&path, &names).unwrap(), ["note"]);
}

#[test]
fn nan_is_a_missing_reading_when_asked() {
    let text = b"x,f,u\n0,1,2\n0.5,NaN,3\n1,4,5\n";
    let data = parse(text, &Names::default(), Missing::Nan).unwrap();
    assert_eq!(data.inputs[0].1.values_of(0), [1.0, 4.0]);
    assert_eq!(data.outputs[0].1.values_of(0), [2.0, 3.0, 5.0]);
}

#[test]
fn points_are_found_by_the_names_of_columns() {
    let points = |text: &str| super::points::parse(text.as_bytes());
    let coords = |text: &str| points(text).unwrap().unwrap().coords().to_vec();
    assert_eq!(coords("y,x\n1,2\n3,4\n"), [2.0, 1.0, 4.0, 3.0]);
    assert_eq!(
        coords("sample,x0,x1,u\n0,1,2,9\n0,3,4,9\n1,1,2,8\n1,3,4,8\n"),
        [1.0, 2.0, 3.0, 4.0]
    );
    assert_eq!(coords("x,y0,f,u\n0,0.5,1,2\n1,,3,\n"), [0.5]);
    assert_eq!(coords("depth\n0\n1\n"), [0.0, 1.0]);
    for by_position in ["0,1\n2,3\n", "x y\n0 1\n", "# x\n0\n"] {
        assert!(points(by_position).unwrap().is_none(), "{by_position}");
    }
    for (text, part) in [
        (
            "lon,lat\n0,1\n",
            "has the columns lon, lat; those of points are",
        ),
        ("id,x\n0,1\n", "omit the first line"),
        (
            "sample,x,u\n0,1,2\n1,3,4\n",
            "other points in sample 1 than in sample 0",
        ),
        ("x,y\n", "no points"),
        ("x,y\n0,oops\n", "line 2 holds \"oops\""),
    ] {
        let error = points(text).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn parameters_and_quantities_with_own_names() {
    let text = b"radius,modulus,note,drag\n1,2,a,3\n4,5,b,6\n";
    let error = parse(text, &Names::default(), Missing::Refuse).unwrap_err();
    assert!(
        error.contains("c2cnet convert FILE -o data.npz --p radius,modulus,note --q drag"),
        "{error}"
    );
    let names = Names {
        parameters: vec!["radius".into(), "modulus".into()],
        quantities: vec!["drag".into()],
        ..Names::default()
    };
    let data = parse(text, &names, Missing::Refuse).unwrap();
    assert_eq!(data.inputs.get("").unwrap().values_of(1), [4.0, 5.0]);
    assert_eq!(data.outputs.get("").unwrap().values_of(1), [6.0]);
}

#[test]
fn advice_fits_the_table() {
    let said = |text: &str, inputs_alone: bool| {
        let names = Names {
            inputs_alone,
            ..Names::default()
        };
        parse(text.as_bytes(), &names, Missing::Refuse).unwrap_err()
    };
    // Of many numbers a few are shown, whatever separates them.
    for separator in [",", " "] {
        let wide = ["0.25"; 40].join(separator);
        let error = said(&format!("{wide}\n{wide}\n"), false);
        assert!(error.contains("(0.25, 0.25, 0.25, ...)"), "{error}");
        assert!(error.contains("numpy.savez(x=..., f=..."), "{error}");
        assert!(error.len() < 300, "{error}");
    }
    // A first column that repeats tells samples apart.
    let runs = "run,depth,k,flux\n0,0,1,2\n0,1,1,2\n1,0,1,2\n1,1,1,2\n";
    let error = said(runs, false);
    let lines: Vec<&str> = error.lines().skip(1).collect();
    assert!(
        lines.len() == 2
            && lines[0].ends_with("--sample run --x depth --f k --u flux")
            && lines[1].contains("--p run,depth,k --q flux"),
        "{error}"
    );
    let error = said("a,b\n1,2\n3,4\n", true);
    assert!(
        error.contains("--p a,b") && error.contains("--f NAME"),
        "{error}"
    );
    assert!(!error.contains("--u") && !error.contains("--q"), "{error}");
}

#[test]
fn outputs_alone_are_a_prediction() {
    let text = b"sample,x0,u\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n";
    assert!(parse(text, &Names::default(), Missing::Refuse).is_err());
    let data = super::read::parse_prediction(text).unwrap();
    assert_eq!(data.samples(), 2);
    assert_eq!(data.outputs.get("").unwrap().values_of(1), [3.0, 4.0]);
    assert!(super::read::parse_prediction(b"x,f,u\n0,1,2\n").is_err());
}
