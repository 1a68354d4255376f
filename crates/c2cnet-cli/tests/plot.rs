//! Pictures of samples.

mod support;

use support::Folder;

fn generate(folder: &Folder, problem: &str, settings: &[&str]) {
    let file = format!("{problem}.npz");
    let mut arguments = vec!["generate", problem, "-o", &file];
    arguments.extend(settings.iter().flat_map(|s| ["--set", s]));
    folder.succeed(&arguments);
}

/// The picture of a sample, which must be one.
fn plot(folder: &Folder, problem: &str, sample: &str) -> String {
    let file = format!("{problem}.npz");
    let said = folder.succeed(&["plot", &file, "--sample", sample]);
    let name = format!("{problem}-{sample}.svg");
    assert!(said.contains(&name), "{said}");
    let svg = std::fs::read_to_string(folder.path(&name)).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("NaN"));
    svg
}

#[test]
fn curves_of_an_interval() {
    let folder = Folder::new();
    folder.generate("data.npz");
    folder.succeed(&["plot", "data.npz"]);
    folder.succeed(&["plot", "data.npz", "--sample", "79", "-o", "last.svg"]);
    let [first, last] =
        ["data-0.svg", "last.svg"].map(|n| std::fs::read_to_string(folder.path(n)).unwrap());
    assert!(first.contains("darcy1d, sample 0 (train)"));
    assert!(last.contains("darcy1d, sample 79 (test)"));
    assert!(first.contains("input f") && first.contains("output u"));
    assert!(!first.contains("<image"));
    assert!(first != last);
    folder.succeed(&["plot", "data.npz", "-o", "pixels.png"]);
    let png = std::fs::read(folder.path("pixels.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
}

#[test]
fn maps_of_the_plane() {
    let folder = Folder::new();
    generate(
        &folder,
        "helmholtz",
        &["points=11", "n_train=2", "n_test=1"],
    );
    let svg = plot(&folder, "helmholtz", "2");
    // Two fields, each with a colour bar.
    assert_eq!(svg.matches("<image").count(), 4);
    generate(
        &folder,
        "kdv-burgers",
        &["points=11", "n_train=1", "n_test=0"],
    );
    let svg = plot(&folder, "kdv-burgers", "0");
    assert!(svg.contains(">t</text>"));
    assert_eq!(svg.matches("<image").count(), 2);
}

#[test]
fn arrows_and_obstacles() {
    let folder = Folder::new();
    let settings = [
        "mesh_size=0.2",
        "grid=32",
        "sensors=20",
        "n_train=1",
        "n_test=0",
    ];
    generate(&folder, "stokes-inverse", &settings);
    let svg = plot(&folder, "stokes-inverse", "0");
    assert!(svg.contains("20 sensors"));
    // The boundary, with its rim, in both panels.
    assert_eq!(svg.matches("stroke=\"#ffffff\"").count(), 2);
}

#[test]
fn many_coordinates() {
    let folder = Folder::new();
    generate(&folder, "poisson10d", &["points=2000", "n_gen2=1"]);
    let svg = plot(&folder, "poisson10d", "10");
    assert!(svg.contains("(gen2)"));
    // Titles are broken into lines.
    let words = svg.replace("</text>", " ");
    assert!(words.contains("coordinates,") && words.contains("1500"));
    assert!(svg.matches("h0").count() <= 3000);
}

#[test]
fn a_sample_that_is_not_there_exits_with_3() {
    let folder = Folder::new();
    folder.generate("data.npz");
    folder.fail(
        &["plot", "data.npz", "--sample", "80"],
        3,
        &["data.npz", "no sample 80", "80 samples"],
    );
    folder.fail(&["plot", "nothing.npz"], 4, &["nothing.npz"]);
}
