//! Data and predictions in files of other programs, and what is made of fields in space.

mod support;

use c2cnet::data::{Bounds, Dataset, Field, Missing, Points};
use c2cnet_formats::{Names, read_places};
use faer::Mat;
use support::Folder;

/// Samples of a linear operator on a grid: the output is twice the input's mean plus a coordinate times it.
fn grid_data(counts: &[usize], samples: usize) -> Dataset {
    let points = Points::grid(&Bounds::unit(counts.len()), counts);
    let value = |i: usize, k: usize| {
        let p = points.point(i);
        (1 + k % 5) as f64 * (1.0 + p[0]) + (k % 3) as f64 * p[1]
    };
    let f = Mat::from_fn(points.len(), samples, value);
    let u = Mat::from_fn(points.len(), samples, |i, k| {
        f[(i, k)] * (1.0 + points.point(i)[1])
    });
    let field = |values| Field::shared(points.clone(), vec![values]).unwrap();
    let mut data = Dataset::new(field(f), field(u)).unwrap();
    data.n_train = samples.checked_sub(4);
    data
}

const SMALL: [&str; 6] = [
    "--input-basis",
    "family='polynomial', functions=10",
    "--output-basis",
    "family='polynomial', functions=10",
    "--map",
    "linear",
];

fn fit(folder: &Folder, data: &str) {
    let mut arguments = vec!["fit", data, "-o", "model.c2c"];
    arguments.extend(SMALL);
    folder.succeed(&arguments);
}

#[test]
fn every_format_gives_back_what_it_got() {
    let folder = Folder::new();
    let data = grid_data(&[6, 5], 12);
    data.write_npz(&folder.path("data.npz")).unwrap();
    for name in ["data.csv", "data.vtu", "data.vtk", "data.msh"] {
        folder.succeed(&["convert", "data.npz", "-o", name]);
        let back = c2cnet_formats::read(&folder.path(name)).unwrap();
        assert_eq!(back.fingerprint(), data.fingerprint(), "{name}");
        // The cells of the grid.
        let triangles = back.triangles.map_or(0, |t| t.len());
        assert_eq!(triangles, if name == "data.csv" { 0 } else { 40 }, "{name}");
        let said = folder.succeed(&["inspect", name]);
        assert!(said.contains("12"), "{said}");
    }
    let csv = c2cnet_formats::read(&folder.path("data.csv")).unwrap();
    assert_eq!(csv.train_indices().len(), 8);
    fit(&folder, "data.csv");
    let from_csv = folder.succeed_json(&["evaluate", "model.c2c", "data.csv", "--json"]);
    let from_npz = folder.succeed_json(&["evaluate", "model.c2c", "data.npz", "--json"]);
    assert_eq!(from_csv["rl2e"], from_npz["rl2e"]);
    assert!(from_csv["rl2e"].as_f64().unwrap() < 1e-6, "{from_csv}");
}

#[test]
fn predictions_as_meshes_and_tables() {
    let folder = Folder::new();
    grid_data(&[6, 5], 12)
        .write_npz(&folder.path("data.npz"))
        .unwrap();
    fit(&folder, "data.npz");
    let fine = grid_data(&[9, 9], 12);
    fine.write_npz(&folder.path("fine.npz")).unwrap();
    folder.succeed(&["convert", "fine.npz", "-o", "fine.msh"]);
    for name in ["out.vtu", "out.vtk", "out.msh"] {
        folder.succeed(&[
            "predict",
            "model.c2c",
            "data.npz",
            "--at",
            "fine.msh",
            "-o",
            name,
        ]);
        let mesh = read_places(&folder.path(name)).unwrap();
        assert_eq!(
            (mesh.points.len(), mesh.cells.triangles.len()),
            (81, 128),
            "{name}"
        );
        assert_eq!((mesh.data.len(), mesh.data[3].name.as_str()), (12, "u[3]"));
        let truth = fine.outputs[0].1.values_of(3);
        for (p, t) in mesh.data[3].values.iter().zip(&truth) {
            assert!((p - t).abs() < 1e-6 * t.abs(), "{name}: {p} for {t}");
        }
    }
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "out.csv"]);
    let table = std::fs::read_to_string(folder.path("out.csv")).unwrap();
    assert!(
        table.starts_with("sample,x0,x1,u\n0,0.0,0.0,"),
        "{}",
        &table[..60]
    );
    assert_eq!(table.lines().count(), 1 + 12 * 30);
    // Predictions can be drawn, and are not taken for data.
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "out.npz"]);
    folder.succeed(&[
        "plot",
        "out.npz",
        "--sample",
        "2",
        "--label",
        "u=height [m]",
    ]);
    let svg = std::fs::read_to_string(folder.path("out-2.svg")).unwrap();
    assert!(svg.contains("output height [m]"));
    folder.fail(&["fit", "out.npz", "-o", "no.c2c"], 4, &["no input values"]);
}

#[test]
fn files_with_a_sample_each_are_collected() {
    let folder = Folder::new();
    let data = grid_data(&[6, 5], 12);
    for k in 0..3 {
        let one = folder.path(&format!("run_{k}.vtu"));
        c2cnet_formats::write(&one, &data.select(&[k])).unwrap();
    }
    let runs = ["run_0.vtu", "run_1.vtu", "run_2.vtu"];
    let mut arguments = vec!["convert"];
    arguments.extend(runs);
    arguments.extend(["--f", "f", "--u", "u", "--n-train", "2", "-o", "all.npz"]);
    folder.succeed(&arguments);
    let all = Dataset::read_npz(&folder.path("all.npz")).unwrap();
    assert_eq!(all.fingerprint(), data.select(&[0, 1, 2]).fingerprint());
    assert_eq!(
        (all.n_train, all.triangles.map(|t| t.len())),
        (Some(2), Some(40))
    );
    let none = ["convert", "run_0.vtu", "--f", "speed", "-o", "x.npz"];
    folder.fail(&none, 4, &["run_0.vtu", "\"speed\"", "it has f, u"]);
    folder.fail(
        &["convert", "run_0.vtu", "-o", "run_0.vtu"],
        2,
        &["would destroy it"],
    );
    let names = Names {
        inputs: vec!["f".into()],
        ..Names::default()
    };
    let paths = [folder.path("run_0.vtu"), folder.path("all.npz")];
    assert!(c2cnet_formats::collect(&paths, &names, Missing::Refuse).is_err());
}

#[test]
fn a_table_with_its_own_names_says_what_it_leaves_out() {
    let folder = Folder::new();
    let mut table = String::from("run,depth,salinity,sound,note\n");
    for (run, i) in (0..6).flat_map(|run| (0..10).map(move |i| (run, i))) {
        table += &format!("{run},{},{},{},a\n", f64::from(i) / 9.0, run + i, run * i);
    }
    std::fs::write(folder.path("sensors.csv"), table).unwrap();
    let convert = |more: &[&'static str]| {
        let names = [
            "--x", "depth", "--f", "salinity", "--u", "sound", "-o", "data.npz",
        ];
        let out = folder.command(&[&["convert", "sensors.csv"], &names[..], more].concat());
        let out = { out }.output().unwrap();
        assert!(out.status.success());
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        text(&out.stdout) + &text(&out.stderr)
    };
    let said = convert(&["--sample", "run"]);
    assert!(
        said.contains("6 samples") && said.contains("not read: note"),
        "{said}"
    );
    let said = convert(&[]);
    for part in [
        "1 sample",
        "not read: run, note",
        "60 readings at 10 points",
        "--sample NAME",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn endings_that_say_something_else_are_refused_before_any_work() {
    let folder = Folder::new();
    let data = grid_data(&[6, 5], 12);
    data.write_npz(&folder.path("data.npz")).unwrap();
    for name in ["d.hdf5", "d.txt", "d"] {
        let convert = ["convert", "data.npz", "-o", name];
        folder.fail(&convert, 2, &[name, ".npz, .csv, .vtu, .vtk or .msh"]);
        // The model does not exist: the name is looked at first.
        folder.fail(
            &["predict", "m.c2c", "data.npz", "-o", name],
            2,
            &[name, ".npz"],
        );
    }
    folder.fail(&["plot", "data.npz", "-o", "p.pdf"], 2, &[".svg or .png"]);
    let evaluate = ["evaluate", "m.c2c", "data.npz", "--figure", "x.jpg"];
    folder.fail(&evaluate, 2, &["x.jpg", ".svg or .png"]);
    folder.fail(
        &["report", "m.c2c", "data.npz", "-o", "r.pdf"],
        2,
        &[".html"],
    );
}

#[test]
fn damaged_meshes_are_refused_in_one_line() {
    let folder = Folder::new();
    let data = grid_data(&[6, 5], 2);
    for name in ["data.vtu", "data.vtk", "data.msh"] {
        let path = folder.path(name);
        c2cnet_formats::write(&path, &data).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        folder.fail(&["inspect", name], 4, &[name]);
    }
}

#[test]
fn fields_in_space_are_drawn_in_slices() {
    let folder = Folder::new();
    grid_data(&[5, 4, 6], 12)
        .write_npz(&folder.path("data.npz"))
        .unwrap();
    fit(&folder, "data.npz");
    folder.succeed(&["plot", "data.npz"]);
    let svg = std::fs::read_to_string(folder.path("data-0.svg")).unwrap();
    // Three slices of the input and of the output, each with a colour bar.
    assert_eq!(svg.matches("<image").count(), 12);
    let said = folder.succeed(&["evaluate", "model.c2c", "data.npz", "--figure", "three.svg"]);
    assert!(
        said.contains("RL2E") && said.contains("wrote three.svg"),
        "{said}"
    );
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "out.vtu"]);
    let mesh = read_places(&folder.path("out.vtu")).unwrap();
    assert_eq!(mesh.cells.tetrahedra.len(), 4 * 3 * 5 * 6);
}

#[test]
fn a_page_about_a_model() {
    let folder = Folder::new();
    grid_data(&[6, 5], 12)
        .write_npz(&folder.path("data.npz"))
        .unwrap();
    fit(&folder, "data.npz");
    folder.succeed(&["report", "model.c2c", "data.npz"]);
    let page = std::fs::read_to_string(folder.path("model.html")).unwrap();
    for part in [
        "model.c2c",
        "id=\"errors\"",
        "id=\"samples\"",
        "id=\"points\"",
        "id=\"choices\"",
        "id=\"next\"",
        "From the best to the worst",
    ] {
        assert!(page.contains(part), "{part}");
    }
    folder.fail(&["report", "model.c2c"], 2, &["give the data"]);
    folder.fail(&["report", ".", "data.npz"], 2, &["needs no data"]);
}

#[test]
fn a_figure_that_fails_leaves_the_table() {
    let folder = Folder::new();
    grid_data(&[6, 5], 12)
        .write_npz(&folder.path("data.npz"))
        .unwrap();
    fit(&folder, "data.npz");
    let out = folder
        .command(&[
            "evaluate",
            "model.c2c",
            "data.npz",
            "--figure",
            "f.svg",
            "--label",
            "nonsense",
        ])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stdout).contains("RL2E"));
    assert!(String::from_utf8_lossy(&out.stderr).contains("nonsense"));
}

#[test]
fn progress_in_a_pipe_is_lines() {
    let folder = Folder::new();
    grid_data(&[6, 5], 12)
        .write_npz(&folder.path("data.npz"))
        .unwrap();
    let mut arguments = vec!["fit", "data.npz", "-o", "model.c2c", "--progress", "plain"];
    arguments.extend(SMALL);
    let out = folder.command(&arguments).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.lines().count() > 2, "{said}");
    assert!(
        said.lines()
            .all(|line| line.starts_with('[') && line.contains(" s] ")),
        "{said}"
    );
}

#[test]
fn parameters_and_quantities_with_own_names_are_converted() {
    let folder = Folder::new();
    let row = |k: usize| {
        let (a, b) = ((k as f64).sin(), (k as f64).cos());
        format!("{a},{b},{}\n", a + 2.0 * b)
    };
    let rows: String = (0..30).map(row).collect();
    std::fs::write(
        folder.path("runs.csv"),
        format!("radius,modulus,drag\n{rows}"),
    )
    .unwrap();
    folder.fail(
        &["fit", "runs.csv", "-o", "model.c2c"],
        4,
        &["c2cnet convert FILE -o data.npz --p radius,modulus --q drag"],
    );
    let convert = [
        "convert",
        "runs.csv",
        "-o",
        "data.npz",
        "--p",
        "radius,modulus",
        "--q",
        "drag",
    ];
    folder.succeed(&convert);
    folder.succeed(&["fit", "data.npz", "-o", "model.c2c", "--map", "linear"]);
}
