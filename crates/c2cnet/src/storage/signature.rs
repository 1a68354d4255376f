//! What a file is, by its first bytes, in words for a user who gave the wrong one.

/// How many leading bytes identify a file.
pub const SIGNATURE: usize = 16;

const BY_PYTHON: &str =
    "convert it with `python -m c2cnet convert FILE data.npz --f NAME --u NAME`";
const BY_CONVERT: &str = "convert it with `c2cnet convert FILE -o data.npz`";

/// What files begin with, what they are, and what can be done with them.
const KNOWN: [(&[u8], &str, &str); 11] = [
    (
        b"PK",
        "an archive of arrays (.npz)",
        "where both are given, the model comes first, then the data",
    ),
    (
        b"\x93NUMPY",
        "a single .npy array",
        "save the arrays by name with np.savez",
    ),
    (
        b"\x89HDF",
        "an HDF5 file (so are .nc and .mat files of newer versions)",
        BY_PYTHON,
    ),
    (b"MATLAB", "a MATLAB file", BY_PYTHON),
    (b"CDF", "a NetCDF file", BY_PYTHON),
    (b"<?xml", "an XML file, perhaps a mesh", BY_CONVERT),
    (b"<VTKFile", "a mesh of VTK", BY_CONVERT),
    (b"# vtk", "a mesh of VTK", BY_CONVERT),
    (b"$MeshFormat", "a mesh of gmsh", BY_CONVERT),
    (b"\x89PNG", "a picture", "give another file"),
    (b"%PDF", "a PDF document", "give another file"),
];

/// What a file with these first bytes is, and what to do with it, if that is known.
pub fn foreign(start: &[u8]) -> Option<(&'static str, &'static str)> {
    if is_model(start) {
        let advice = "`c2cnet inspect` shows it; where data is given too, the model comes first";
        return Some(("a model", advice));
    }
    let of = KNOWN.iter().find(|(begin, ..)| start.starts_with(begin));
    of.map(|(_, what, advice)| (*what, *advice))
}

/// Whether a file with these first bytes is laid out as a model: the length of a header, then the header.
pub fn is_model(start: &[u8]) -> bool {
    // No header is as long as its upper bytes could say, and text has no zeros.
    start.get(8) == Some(&b'{') && start[7] == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        let model = [&[40, 0, 0, 0, 0, 0, 0, 0][..], b"{\"__meta"].concat();
        assert_eq!(foreign(&model).unwrap().0, "a model");
        assert!(foreign(b"\x89HDF\r\n\x1a\n").unwrap().1.contains("python"));
        assert_eq!(foreign(b"x,f,u\n0,1,2\n"), None);
        assert_eq!(foreign(b""), None);
    }
}
