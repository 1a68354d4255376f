//! Data in files of other programs: CSV, VTK (`.vtu`, `.vtk`), gmsh (`.msh`).
//!
//! ```text
//! .npz ─────────────────────────────────────> c2cnet::data
//! .csv ──table──┐
//! .vtu, .vtk ──vtk──┐        samples ───────> Dataset
//! .msh ──gmsh───────┴─ Mesh ──┘
//! ```
//!
//! [`read`] takes whatever a file is, by its first bytes; [`collect`] makes one data set of many files with one
//! sample each; [`write()`] goes by the name.
//!
//! **A mesh file** holds points, cells and arrays of point data. Arrays are called as the keys of an `.npz` file, with
//! the number of the sample where there are several: `f`, `u`, `u.NAME`, `u[0]`, `u[1]`. Other names are given by
//! [`Names`]. Cells other than triangles and tetrahedra are split into them.
//!
//! **A table** (CSV) has a row for each reading; [`table`] lists its columns.

#![warn(missing_docs)]

mod cells;
mod gmsh;
mod grid;
mod mesh;
mod samples;
pub mod table;
mod vtk;

pub use cells::Cells;
pub use mesh::{Mesh, PointData};
pub use samples::Names;

use c2cnet::data::{Dataset, Missing, read_points};
use c2cnet::internal::{open_plain, read_plain, write_atomically};
use c2cnet::{Error, Result};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An archive of NumPy arrays.
    Npz,
    /// Text with a row for each reading.
    Csv,
    /// A mesh of VTK as XML.
    Vtu,
    /// A mesh of VTK in its older format.
    Vtk,
    /// A mesh of gmsh.
    Gmsh,
}

impl Format {
    /// What a file is, by its first bytes.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(path: &Path) -> Result<Format> {
        let mut start = Vec::new();
        let (file, _) = open_plain(path)?;
        let read = file.take(512).read_to_end(&mut start);
        read.map_err(|e| Error::io(path, e))?;
        let text = String::from_utf8_lossy(&start);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let begins = |with: &[&str]| with.iter().any(|start| text.starts_with(start));
        let is_text = !text.is_empty() && !start.contains(&0);
        Ok(if begins(&["<VTKFile", "<?xml"]) {
            Format::Vtu
        } else if begins(&["# vtk DataFile"]) {
            Format::Vtk
        } else if begins(&["$MeshFormat", "$Comments"]) {
            Format::Gmsh
        } else if is_text && !start.starts_with(b"PK") {
            Format::Csv
        } else {
            Format::Npz
        })
    }

    /// The endings of the files that can be written.
    pub const ENDINGS: [(&str, Format); 5] = [
        ("npz", Format::Npz),
        ("csv", Format::Csv),
        ("vtu", Format::Vtu),
        ("vtk", Format::Vtk),
        ("msh", Format::Gmsh),
    ];

    /// The format of a file to be written, by the ending of its name.
    ///
    /// # Errors
    /// If it has none of [`Format::ENDINGS`]; pipes and devices may be called anything, and get `.npz`.
    pub fn named(path: &Path) -> Result<Format> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let ending = |(ending, _): &&(&str, Format)| extension == *ending;
        match Self::ENDINGS.iter().find(ending) {
            Some((_, format)) => Ok(*format),
            None if path.exists() && !path.is_file() => Ok(Format::Npz),
            None => Err(Error::Config(format!(
                "{}: data is written as .npz, .csv, .vtu, .vtk or .msh; end the name in one of these (HDF5 and others: \
                 from Python)",
                path.display()
            ))),
        }
    }

    fn is_mesh(self) -> bool {
        matches!(self, Format::Vtu | Format::Vtk | Format::Gmsh)
    }
}

/// Reads a data file of any format, whose arrays or columns have the names of the keys of an `.npz` file.
///
/// # Errors
/// If it cannot be read, is damaged, or holds no such names; the message lists those it holds.
pub fn read(path: &Path) -> Result<Dataset> {
    read_named(path, &Names::default(), Missing::Refuse)
}

/// [`read`], with other names, and NaN as `missing` says.
///
/// # Errors
/// As [`read`]; and for an `.npz` file if names are given, which it does not need.
pub fn read_named(path: &Path, names: &Names, missing: Missing) -> Result<Dataset> {
    match Format::of(path)? {
        Format::Npz if *names == Names::default() => Dataset::read_npz_with(path, missing),
        Format::Npz => Err(Error::Config(format!(
            "{}: the arrays of an .npz file have fixed names (x, f, y, u); rename them with numpy.savez",
            path.display()
        ))),
        Format::Csv => table::read(path, names, missing),
        _ => samples::of_mesh(path, &read_mesh(path)?, names, missing),
    }
}

/// Reads a file of outputs alone, such as a prediction, of any format: a data set without inputs.
///
/// # Errors
/// As [`read`], and if the file holds inputs or no outputs.
pub fn read_prediction(path: &Path) -> Result<Dataset> {
    match Format::of(path)? {
        Format::Npz => Dataset::read_prediction(path),
        Format::Csv => table::read_prediction(path),
        _ => samples::prediction_of_mesh(path, &read_mesh(path)?),
    }
}

/// Reads many files with one sample each, in the order given: meshes with point data, or tables.
///
/// # Errors
/// As [`read`], and if files differ in what they hold.
pub fn collect(paths: &[PathBuf], names: &Names, missing: Missing) -> Result<Dataset> {
    if let [path] = paths {
        return read_named(path, names, missing);
    }
    let all = paths.iter().map(|path| read_named(path, names, missing));
    samples::joined(paths, all.collect::<Result<_>>()?)
}

/// The columns of a table that [`read_named`] does not read.
///
/// # Errors
/// As [`read_named`].
pub fn ignored(path: &Path, names: &Names) -> Result<Vec<String>> {
    match Format::of(path)? {
        Format::Csv => table::ignored(path, names),
        _ => Ok(Vec::new()),
    }
}

/// Points to predict at, with the cells between them where the file has such: a mesh, a table with named columns, or
/// what [`read_points`] takes.
///
/// # Errors
/// If the file cannot be read or is damaged.
pub fn read_places(path: &Path) -> Result<Mesh> {
    let format = Format::of(path)?;
    if format.is_mesh() {
        return read_mesh(path);
    }
    let named = match format {
        Format::Csv => table::points(path)?,
        _ => None,
    };
    Ok(Mesh::of_points(match named {
        Some(points) => points,
        None => read_points(path)?,
    }))
}

fn read_mesh(path: &Path) -> Result<Mesh> {
    let bytes = read_plain(path)?;
    let mesh = match Format::of(path)? {
        Format::Gmsh => gmsh::parse(&bytes),
        format => vtk::parse(&bytes, format),
    };
    mesh.map_err(|reason| Error::format(path, reason))
}

/// Writes a data set or a prediction, atomically, as the name says ([`Format::named`]).
///
/// # Errors
/// If the format cannot hold it (a mesh has one set of points, and no vectors without points), or the file cannot be
/// written.
pub fn write(path: &Path, data: &Dataset) -> Result<()> {
    let format = Format::named(path)?;
    let bytes = match format {
        Format::Npz => return data.write_npz(path),
        Format::Csv => table::write(data)?,
        _ => {
            let mesh = samples::mesh_of(data)
                .map_err(|e| Error::Data(format!("{}: {e}; write .npz or .csv", path.display())))?;
            let bytes = match format {
                Format::Gmsh => gmsh::write(&mesh),
                _ => vtk::write(&mesh, format),
            };
            bytes.map_err(|e| Error::io(path, e))?
        }
    };
    write_atomically(path, |out| out.write_all(&bytes))
}

fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}
