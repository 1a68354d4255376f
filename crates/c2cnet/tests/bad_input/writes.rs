//! Files that cannot be written.

use super::{check, line_model, said};
use c2cnet::internal::write_npz;

#[test]
fn failed_writes_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (model, data) = line_model();
    let missing = folder.path().join("no such folder").join("file");
    let taken = folder.path().join("folder");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("inside"), "kept").unwrap();
    let below_a_file = taken.join("inside").join("file");
    let old = folder.path().join("old.npz");
    std::fs::write(&old, "kept").unwrap();
    let mut wrong = data.clone();
    wrong.n_train = Some(0);
    check(&[
        (
            "model, no folder",
            said(model.save(&missing)),
            &["no such folder"],
        ),
        (
            "data, no folder",
            said(data.write_npz(&missing)),
            &["no such folder"],
        ),
        ("model over a folder", said(model.save(&taken)), &["folder"]),
        (
            "data over a folder",
            said(data.write_npz(&taken)),
            &["folder"],
        ),
        (
            "model below a file",
            said(model.save(&below_a_file)),
            &["inside"],
        ),
        ("wrong data", said(wrong.write_npz(&old)), &["n_train = 0"]),
        (
            "wrong count of values",
            said(write_npz(&old, |npz| npz.put_f64("x", &[3], [1.0]))),
            &["old.npz"],
        ),
        (
            "an array twice",
            said(write_npz(&old, |npz| {
                npz.put_f64("x", &[1], [1.0])?;
                npz.put_f64("x", &[1], [1.0])
            })),
            &["old.npz"],
        ),
        (
            "a writer that fails",
            said(write_npz(&old, |npz| {
                npz.put_f64("x", &[1], [1.0])?;
                Err(std::io::Error::other("disk full"))
            })),
            &["disk full"],
        ),
    ]);
    assert_eq!(std::fs::read(&old).unwrap(), b"kept");
    let mut names = Vec::new();
    for folder in [folder.path(), &taken] {
        for entry in std::fs::read_dir(folder).unwrap() {
            names.push(entry.unwrap().file_name().into_string().unwrap());
        }
    }
    names.sort();
    assert_eq!(names, ["folder", "inside", "old.npz"]);
}
