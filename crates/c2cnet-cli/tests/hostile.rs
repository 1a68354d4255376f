//! Careless commands, special files, hostile values: nothing is lost, nobody gets out, every end has its code.

mod support;

use c2cnet::internal::write_npz;
use support::{BASES, Folder, wait_until};

fn prepared() -> Folder {
    let folder = Folder::new();
    folder.generate("data.npz");
    folder.fit("data.npz", "model.c2c");
    folder
}

/// The command fails with `code` and these words, and every file stays as it was.
fn keeps(folder: &Folder, arguments: &[&str], code: i32, parts: &[&str]) {
    let files = |folder: &Folder| -> Vec<(String, Vec<u8>)> {
        let names = folder.names().into_iter();
        names
            .filter(|name| folder.path(name).is_file())
            .map(|name| (name.clone(), std::fs::read(folder.path(&name)).unwrap()))
            .collect()
    };
    let before = files(folder);
    folder.fail(arguments, code, parts);
    assert!(files(folder) == before, "{arguments:?} changed a file");
}

fn fit<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["fit"], more, &BASES[..]].concat()
}

#[test]
fn inputs_were_destroyed_in_silence() {
    let folder = prepared();
    std::fs::write(folder.path("at.csv"), "0.5\n").unwrap();
    std::fs::write(folder.path("fit.toml"), "seed = 1\n").unwrap();
    std::fs::create_dir(folder.path("below")).unwrap();
    for arguments in [
        &fit(&["data.npz", "-o", "data.npz"])[..],
        &fit(&["data.npz", "-o", "./below/../data.npz"]),
        &fit(&["data.npz", "-o", "data.npz", "--force"]),
        &fit(&["data.npz", "-o", "new.c2c", "--metrics", "data.npz"]),
        &["fit", "data.npz", "-o", "fit.toml", "--config", "fit.toml"],
        &["plan", "data.npz", "-o", "data.npz"],
        &["plan", "data.npz", "-o", "fit.toml", "--config", "fit.toml"],
        &["predict", "model.c2c", "data.npz", "-o", "data.npz"],
        &[
            "predict",
            "model.c2c",
            "data.npz",
            "--at",
            "at.csv",
            "-o",
            "at.csv",
        ],
        &[
            "evaluate",
            "model.c2c",
            "data.npz",
            "--per-sample",
            "data.npz",
        ],
    ] {
        keeps(&folder, arguments, 2, &["is read by this command"]);
    }
    // A prediction and a figure are never written to what has no ending of one.
    let predict = [
        "predict",
        "model.c2c",
        "data.npz",
        "-o",
        "model.c2c",
        "--force",
    ];
    for arguments in [&predict[..5], &predict] {
        keeps(&folder, arguments, 2, &["data is written as .npz"]);
    }
    for arguments in [
        &["evaluate", "model.c2c", "data.npz", "--figure", "model.c2c"][..],
        &["plot", "data.npz", "-o", "data.npz"],
    ] {
        keeps(
            &folder,
            arguments,
            2,
            &["a figure is written as .svg or .png"],
        );
    }
    keeps(
        &folder,
        &fit(&["data.npz", "-o", "new", "--metrics", "new"]),
        2,
        &["written twice"],
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("data.npz", folder.path("link")).unwrap();
        std::fs::hard_link(folder.path("data.npz"), folder.path("hard")).unwrap();
        for other in ["link", "hard"] {
            let arguments = fit(&["data.npz", "-o", other]);
            keeps(&folder, &arguments, 2, &["is read by this command"]);
        }
    }
}

#[test]
fn models_and_data_are_replaced_by_their_makers_or_by_force() {
    let folder = prepared();
    folder.generate("other.npz");
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "u.npz"]);
    // Models by other names.
    for name in ["model.npz", "model.svg"] {
        std::fs::copy(folder.path("model.c2c"), folder.path(name)).unwrap();
    }
    for (arguments, words) in [
        (
            &fit(&["data.npz", "-o", "other.npz"])[..],
            "other.npz is data",
        ),
        (
            &["predict", "model.c2c", "data.npz", "-o", "other.npz"],
            "other.npz is data",
        ),
        (
            &["generate", "darcy1d", "-o", "model.npz"],
            "model.npz is a model",
        ),
        (
            &["evaluate", "model.c2c", "data.npz", "--per-sample", "u.npz"],
            "u.npz is a prediction",
        ),
        (
            &["plot", "data.npz", "-o", "model.svg"],
            "model.svg is a model",
        ),
        (
            &fit(&["data.npz", "-o", "new.c2c", "--metrics", "model.c2c"]),
            "model.c2c is a model",
        ),
    ] {
        keeps(&folder, arguments, 2, &[words, "--force"]);
    }
    // Each by its maker.
    folder.fit("data.npz", "model.c2c");
    folder.generate("other.npz");
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "u.npz"]);
    folder.succeed(&["plot", "data.npz", "-o", "model.svg", "--force"]);
    let picture = std::fs::read(folder.path("model.svg")).unwrap();
    assert!(picture.starts_with(b"<svg"));
}

#[test]
fn ids_do_not_lead_out_of_the_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("mine")).unwrap();
    let experiment = r#"
        title = "t"
        label = "l"
        about = "a"
        [data.d]
        problem = "darcy1d"
        settings = { points = 51, n_train = 20, n_test = 5, length = 0.2 }
        [[run]]
        id = "ID"
        label = "m"
        column = "auto"
        data = "d"
    "#;
    for id in ["../../x", "/tmp/x", ".."] {
        let text = experiment.replace("ID", id);
        std::fs::write(folder.path("mine/e.toml"), text).unwrap();
        let arguments = ["reproduce", "e", "--experiments", "mine", "--out", "run"];
        keeps(&folder, &arguments, 2, &["e.toml", "is not a valid name"]);
    }
    let arguments = [
        "reproduce",
        "../mine/e",
        "--experiments",
        "mine",
        "--out",
        "run",
    ];
    keeps(&folder, &arguments, 2, &["is not a valid name"]);
}

#[test]
fn settings_beyond_all_memory_are_refused_by_their_numbers() {
    let folder = Folder::new();
    folder.generate("data.npz");
    for pair in [
        "points=1000000000",
        "n_train=1000000000000",
        "n_test=18446744073709551615",
    ] {
        let arguments = ["generate", "darcy1d", "-o", "x.npz", "--set", pair];
        keeps(&folder, &arguments, 2, &["settings of problem darcy1d"]);
    }
    let network = [
        "--map",
        "mlp",
        "--set",
        "map.mlp.hidden=[1000000000, 1000000000]",
    ];
    keeps(
        &folder,
        &[&fit(&["data.npz", "-o", "m.c2c"])[..], &network].concat(),
        2,
        &["mlp", "widths", "C2CNET_MEMORY"],
    );
    for basis in [
        "family='random-features', functions=1000000000000",
        "family='fourier', functions=1000000000",
        "family='polynomial', functions=1000000000",
        "family='radial', functions=1000000000",
        "family='finite-elements', functions=1000000000",
    ] {
        let arguments = ["fit", "data.npz", "-o", "m.c2c", "--input-basis", basis];
        keeps(&folder, &arguments, 2, &["functions"]);
    }
}

/// Ten samples of a function at twenty points, with these outputs.
fn write_data(folder: &Folder, name: &str, f: impl Fn(usize) -> f64, u: impl Fn(usize) -> f64) {
    write_npz(&folder.path(name), |npz| {
        let x = (0..20).map(|i| f64::from(i) / 19.0);
        npz.put_f64("x", &[20, 1], x.clone())?;
        npz.put_f64("y", &[20, 1], x)?;
        npz.put_f64("f", &[10, 20], (0..200).map(&f))?;
        npz.put_f64("u", &[10, 20], (0..200).map(&u))
    })
    .unwrap();
}

/// Values that vary.
fn wave(i: usize) -> f64 {
    1.0 + (i as f64 * 0.37).sin()
}

#[test]
fn values_whose_squares_are_no_numbers_are_refused() {
    let folder = Folder::new();
    let one_huge = |i: usize| if i == 47 { 1e160 } else { wave(i) };
    write_data(&folder, "f.npz", one_huge, wave);
    write_data(&folder, "u.npz", wave, one_huge);
    write_data(&folder, "all.npz", |i| 1e200 * wave(i), wave);
    write_data(&folder, "small.npz", wave, |i| 1e-165 * wave(i));
    for (name, words) in [
        ("f.npz", ["input", "sample 2", "1e160"]),
        ("u.npz", ["output", "sample 2", "1e160"]),
        ("all.npz", ["input", "sample 0", "e200"]),
        ("small.npz", ["output", "sample 0", "e-165"]),
    ] {
        keeps(&folder, &["fit", name, "-o", "m.c2c"], 3, &words);
        keeps(&folder, &fit(&[name, "-o", "m.c2c"]), 3, &words);
    }
    write_data(&folder, "fine.npz", wave, wave);
    folder.succeed(&["fit", "fine.npz", "-o", "m.c2c", "--map", "linear"]);
    for (name, words) in [("f.npz", "1e160"), ("small.npz", "e-165")] {
        let arguments = ["evaluate", "m.c2c", name, "--on", "all"];
        keeps(&folder, &arguments, 3, &[words]);
    }
}

#[test]
fn denormal_values_are_drawn() {
    let folder = Folder::new();
    let tiny = |i: usize| 5e-324 * (i % 7) as f64;
    write_data(&folder, "tiny.npz", tiny, |i| 1e-310 * wave(i));
    write_data(&folder, "huge.npz", |i| 1e308 * (i as f64).sin(), |_| 1e308);
    write_npz(&folder.path("plane.npz"), |npz| {
        npz.put_f64("x", &[1, 9, 2], (0..18).map(|i| f64::from(i) * 5e-324))?;
        npz.put_f64("f", &[1, 9, 2], (0..18).map(|i| f64::from(i % 4) * 5e-324))?;
        let axis = |i: i32| f64::from(i) * 1e-310;
        npz.put_f64(
            "y",
            &[9, 2],
            (0..9).flat_map(|i| [axis(i / 3), axis(i % 3)]),
        )?;
        npz.put_f64("u", &[1, 9], (0..9).map(|i| f64::from(i) * 1e-320))
    })
    .unwrap();
    for name in ["tiny.npz", "huge.npz", "plane.npz"] {
        for picture in ["p.svg", "p.png"] {
            folder.succeed(&["plot", name, "-o", picture]);
        }
    }
}

#[test]
fn control_characters_of_a_file_are_not_printed_raw() {
    let folder = Folder::new();
    write_npz(&folder.path("bell.npz"), |npz| {
        npz.put_f64("x", &[2], [0.0, 1.0])?;
        npz.put_f64("f.\u{1b}[31m\u{7}", &[1, 2], [0.0, 1.0])?;
        npz.put_str("meta", "{\"note\": \"\\u001b]0;title\\u0007\"}")
    })
    .unwrap();
    write_npz(&folder.path("key.npz"), |npz| {
        npz.put_f64("\u{1b}[2J", &[1], [0.0])
    })
    .unwrap();
    for arguments in [
        &["inspect", "bell.npz"][..],
        &["inspect", "bell.npz", "--json"],
        &["inspect", "key.npz"],
        &["fit", "key.npz", "-o", "m.c2c"],
        &["evaluate", "key.npz", "bell.npz"],
    ] {
        let out = folder.command(arguments).output().unwrap();
        let printed = [out.stdout, out.stderr].concat();
        assert!(!printed.is_empty());
        let raw = printed
            .iter()
            .filter(|b| b.is_ascii_control() && **b != b'\n');
        assert_eq!(raw.count(), 0, "{}", String::from_utf8_lossy(&printed));
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::process::Command;

    /// The command behind a limit or a mask of the shell.
    fn shell(folder: &Folder, before: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_c2cnet");
        command.current_dir(folder.root()).arg("-c");
        command
            .arg(format!("{before}; exec \"$0\" \"$@\""))
            .arg(program);
        let out = command.args(arguments).output().unwrap();
        let said = [out.stdout, out.stderr].concat();
        (
            out.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    }

    #[test]
    fn devices_are_neither_replaced_nor_read_to_their_end() {
        let folder = prepared();
        folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "/dev/null"]);
        folder.succeed(&fit(&["data.npz", "-o", "/dev/null"]));
        let network = [
            "--map",
            "mlp",
            "--set",
            "map.mlp.steps=20",
            "--checkpoint-every",
            "0",
        ];
        folder.succeed(&[&fit(&["data.npz", "-o", "/dev/null"])[..], &network].concat());
        assert!(!std::path::Path::new("/dev/null.training").exists());
        let kind = std::fs::metadata("/dev/null").unwrap().file_type();
        assert!(kind.is_char_device());
        for arguments in [
            &["evaluate", "/dev/zero", "data.npz"][..],
            &["inspect", "/dev/zero"],
            &["fit", "/dev/zero", "-o", "m.c2c"],
            &["plot", "/dev/zero"],
            &[
                "predict",
                "model.c2c",
                "data.npz",
                "--at",
                "/dev/zero",
                "-o",
                "p.npz",
            ],
        ] {
            keeps(&folder, arguments, 4, &["/dev/zero"]);
        }
        let arguments = ["fit", "data.npz", "-o", "m.c2c", "--config", "/dev/zero"];
        keeps(&folder, &arguments, 4, &["/dev/zero"]);
    }

    #[test]
    fn a_full_disk_is_one_line_and_nothing_is_lost() {
        let folder = prepared();
        for arguments in [
            &["predict", "model.c2c", "data.npz", "-o", "/dev/full"][..],
            &[
                "generate",
                "darcy1d",
                "-o",
                "/dev/full",
                "--set",
                "n_train=2",
            ],
            &fit(&["data.npz", "-o", "/dev/full"]),
        ] {
            let (code, said) = shell(&folder, "true", arguments);
            assert_eq!(code, Some(4), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(said.contains("/dev/full: "), "{said}");
        }
        // Files may have no more than 1 KiB: the write fails in the middle.
        let before = std::fs::read(folder.path("model.c2c")).unwrap();
        let limit = "trap '' XFSZ; ulimit -f 1";
        for arguments in [
            &["predict", "model.c2c", "data.npz", "-o", "p.npz"][..],
            &fit(&["data.npz", "-o", "model.c2c"]),
        ] {
            let (code, said) = shell(&folder, limit, arguments);
            assert_eq!(code, Some(4), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        assert_eq!(std::fs::read(folder.path("model.c2c")).unwrap(), before);
        assert_eq!(folder.names(), ["data.npz", "model.c2c"]);
    }

    #[test]
    fn the_umask_is_kept() {
        let folder = prepared();
        let arguments = ["predict", "model.c2c", "data.npz", "-o", "private.npz"];
        let (code, said) = shell(&folder, "umask 077", &arguments);
        assert_eq!(code, Some(0), "{said}");
        let mode = std::fs::metadata(folder.path("private.npz")).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn memory_that_does_not_suffice_has_a_message_and_a_code() {
        let folder = prepared();
        // A hundred million points: the file is there, the memory is not.
        let path = folder.path("zeros.npz");
        write_npz(&path, |npz| {
            npz.put_f64("x", &[4_000_000], (0..4_000_000).map(f64::from))?;
            npz.put_f64("f", &[4, 4_000_000], (0..16_000_000).map(|_| 0.5))
        })
        .unwrap();
        let limit = "ulimit -v 300000";
        let (code, said) = shell(&folder, limit, &["inspect", "zeros.npz", "--threads", "1"]);
        assert!(matches!(code, Some(4 | 6)), "{code:?}: {said}");
        assert!(said.contains("memory"), "{said}");
    }

    #[test]
    fn the_second_of_two_fits_on_one_path_says_so() {
        let folder = Folder::new();
        folder.generate("data.npz");
        let slow = ["--map", "mlp", "--set", "map.mlp.steps=200000"];
        let arguments = [&fit(&["data.npz", "-o", "model.c2c"])[..], &slow].concat();
        let mut first = folder.command(&arguments).spawn().unwrap();
        let lock = folder.path(".c2cnet-model.c2c.lock");
        wait_until("the lock", || lock.exists());
        let second = folder.command(&arguments).output().unwrap();
        first.kill().unwrap();
        first.wait().unwrap();
        let said = String::from_utf8_lossy(&second.stderr);
        assert_eq!(second.status.code(), Some(4), "{said}");
        assert!(said.contains("model.c2c: another process"), "{said}");
        // What the killed one left does not hinder the next, which removes it.
        assert!(lock.exists());
        folder.fit("data.npz", "model.c2c");
        assert!(!lock.exists());
    }
}
