//! Tables and meshes of other programs: damaged bytes.

use super::{Scratch, Target};
use crate::{memory, mutate};
use c2cnet::data::{Bounds, Dataset, Field, Points};
use faer::Mat;

pub fn targets() -> Vec<Target> {
    [
        ("csv-bytes", "data.csv"),
        ("vtu-bytes", "data.vtu"),
        ("vtk-bytes", "data.vtk"),
        ("msh-bytes", "data.msh"),
    ]
    .into_iter()
    .map(|(name, file)| target(name, file))
    .collect()
}

fn target(name: &'static str, file: &'static str) -> Target {
    let scratch = Scratch::new(file);
    let whole = {
        let path = scratch.put(&[]);
        c2cnet_formats::write(path, &data()).expect("written");
        std::fs::read(path).expect("read back")
    };
    Target {
        name,
        run: Box::new(move |rng| {
            let mut bytes = whole.clone();
            mutate::bytes(rng, &mut bytes);
            let path = scratch.put(&bytes);
            // A number of two characters is held as eight bytes, more than once.
            memory::allow(64 * bytes.len());
            let _ = c2cnet_formats::read_places(path);
            let Ok(data) = c2cnet_formats::read(path) else {
                return false;
            };
            data.check().expect("what was read is whole");
            true
        }),
    }
}

fn data() -> Dataset {
    let points = Points::grid(&Bounds::unit(2), &[4, 3]);
    let field = || {
        let values = Mat::from_fn(points.len(), 2, |i, k| (i + k) as f64 * 0.37);
        Field::shared(points.clone(), vec![values.clone(), values]).expect("a field")
    };
    Dataset::new(field(), field()).expect("data")
}
