//! Results do not depend on the number of threads, and Ctrl-C leaves nothing behind.

mod support;

use support::{BASES, Folder};

#[test]
fn files_are_the_same_on_one_and_on_two_threads() {
    let folder = Folder::new();
    for threads in ["1", "2"] {
        let name = |stem: &str, ending: &str| format!("{stem}{threads}.{ending}");
        let (data, model, out) = (name("d", "npz"), name("m", "c2c"), name("p", "npz"));
        folder.succeed(&[
            "generate",
            "darcy1d",
            "-o",
            &data,
            "--threads",
            threads,
            "--set",
            "points=120",
            "--set",
            "n_train=90",
            "--set",
            "n_test=10",
        ]);
        let mut fit = vec!["fit", &data, "-o", &model, "--threads", threads];
        fit.extend(BASES);
        folder.succeed(&fit);
        folder.succeed(&["predict", &model, &data, "-o", &out, "--threads", threads]);
    }
    for (one, two) in [
        ("d1.npz", "d2.npz"),
        ("p1.npz", "p2.npz"),
        ("m1.c2c", "m2.c2c"),
    ] {
        let read = |name| std::fs::read(folder.path(name)).unwrap();
        assert!(read(one) == read(two), "{one} and {two} differ");
    }
}

/// A million threads were started, until the system had no more.
#[test]
fn no_more_threads_than_cores_are_started() {
    let folder = Folder::new();
    folder.succeed(&["generate", "--list", "--threads", "1000000"]);
}

/// The file of metrics is a pipe: it is opened, for which the command waits, once data and settings
/// are read and the fit begins.
#[cfg(unix)]
#[test]
fn an_interrupted_fit_exits_with_130_and_leaves_nothing() {
    use std::process::Command;

    let folder = Folder::new();
    folder.succeed(&[
        "generate",
        "darcy1d",
        "-o",
        "data.npz",
        "--set",
        "points=600",
    ]);
    let pipe = folder.path("metrics");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let fit = ["fit", "data.npz", "-o", "model.c2c", "--map", "kernel"];
    let mut child = folder
        .command(&[&fit[..], &["--metrics", "metrics"]].concat())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (begun, begins) = std::sync::mpsc::channel();
    std::thread::spawn(move || begun.send(std::fs::File::open(pipe)));
    let _reader = begins
        .recv_timeout(std::time::Duration::from_secs(120))
        .expect("the fit does not begin")
        .unwrap();
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(folder.names(), ["data.npz", "metrics"]);
}
