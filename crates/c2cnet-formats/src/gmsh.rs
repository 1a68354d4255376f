//! Meshes of gmsh (`.msh`), versions 2.2 and 4.1 as text, with point data.
//!
//! Written here because existing crates for this format read neither version 2 nor `$NodeData`.

use crate::cells::kind;
use crate::{Cells, Mesh, PointData};
use std::collections::HashMap;
use std::io::{self, Write};

/// Reads the mesh in `bytes`.
pub(crate) fn parse(bytes: &[u8]) -> Result<Mesh, String> {
    // A binary file is text as far as this line and the next.
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let version = header(&start)?;
    let text = std::str::from_utf8(bytes).map_err(|_| "contains bytes that are not text")?;
    let mut reader = Reader {
        is_4: version.starts_with('4'),
        ..Reader::default()
    };
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(section) = line.trim().strip_prefix('$') else {
            continue;
        };
        let end = format!("$End{section}");
        let body = lines.by_ref().take_while(|line| line.trim() != end);
        let body: Vec<&str> = body.collect();
        let read = match section {
            "Nodes" => reader.nodes(&body),
            "Elements" => reader.elements(&body),
            "NodeData" => reader.node_data(&body),
            "ElementData" => reader.element_data(&body),
            _ => Ok(()),
        };
        read.map_err(|reason| format!("{reason} in ${section}"))?;
    }
    let mut mesh = Mesh::in_space(&reader.coords, reader.cells, reader.data)?;
    mesh.in_cells = reader.in_cells;
    Ok(mesh)
}

/// The version, if it is one that can be read.
fn header(start: &str) -> Result<String, String> {
    let mut lines = start.lines().map(str::trim);
    let found = lines.by_ref().any(|line| line == "$MeshFormat");
    let mut words = lines
        .next()
        .filter(|_| found)
        .unwrap_or_default()
        .split_whitespace();
    let (version, binary) = (words.next().unwrap_or_default(), words.next());
    if !(version == "4.1" || version.starts_with("2.")) {
        return Err(format!(
            "is a gmsh file of version {version:?}; only 2.2 and 4.1 can be read; gmsh {FORMAT} converts it"
        ));
    }
    if binary != Some("0") {
        return Err(format!(
            "is a binary gmsh file, but only text can be read; gmsh {FORMAT} converts it, and Python's c2cnet.read \
             reads this one through meshio"
        ));
    }
    Ok(version.to_string())
}

const FORMAT: &str = "IN.msh -save -format msh41 -o OUT.msh";

#[derive(Default)]
struct Reader {
    is_4: bool,
    coords: Vec<[f64; 3]>,
    /// The place of each node in `coords`, by its number in the file.
    places: HashMap<u64, usize>,
    cells: Cells,
    data: Vec<PointData>,
    in_cells: Vec<String>,
}

impl Reader {
    fn nodes(&mut self, body: &[&str]) -> Result<(), String> {
        let mut words = Words::of(body);
        if !self.is_4 {
            for _ in 0..words.count()? {
                let tag = words.number()?;
                self.node(tag, [words.float()?, words.float()?, words.float()?]);
            }
            return Ok(());
        }
        let blocks = words.count()?;
        words.skip(3)?;
        for _ in 0..blocks {
            let (dim, _) = (words.count()?, words.skip(1)?);
            let parametric = words.count()? != 0;
            let count = words.count()?;
            let tags: Result<Vec<u64>, String> = (0..count).map(|_| words.number()).collect();
            for tag in tags? {
                self.node(tag, [words.float()?, words.float()?, words.float()?]);
                words.skip(if parametric { dim } else { 0 })?;
            }
        }
        Ok(())
    }

    fn node(&mut self, tag: u64, at: [f64; 3]) {
        self.places.insert(tag, self.coords.len());
        self.coords.push(at);
    }

    fn place(&self, tag: u64) -> Result<usize, String> {
        let place = self.places.get(&tag).copied();
        place.ok_or_else(|| format!("names node {tag}, which the file does not have,"))
    }

    fn elements(&mut self, body: &[&str]) -> Result<(), String> {
        if self.is_4 {
            let mut words = Words::of(body);
            let blocks = words.count()?;
            words.skip(3)?;
            for _ in 0..blocks {
                words.skip(2)?;
                let (kind, count) = (words.count()?, words.count()?);
                let (kind, corners) = vtk_kind(kind)?;
                for _ in 0..count {
                    words.skip(1)?;
                    self.cell(kind, corners, &mut words)?;
                }
            }
            return Ok(());
        }
        let mut words = Words::of(body);
        for _ in 0..words.count()? {
            words.skip(1)?;
            let (kind, corners) = vtk_kind(words.count()?)?;
            let tags = words.count()?;
            words.skip(tags)?;
            self.cell(kind, corners, &mut words)?;
        }
        Ok(())
    }

    fn cell(&mut self, kind: u8, corners: usize, words: &mut Words<'_>) -> Result<(), String> {
        let nodes = (0..corners).map(|_| self.place(words.number()?));
        let mut nodes = nodes.collect::<Result<Vec<usize>, String>>()?;
        if kind == kind::QUADRATIC_TETRAHEDRON {
            // gmsh counts the last two edges the other way round.
            nodes.swap(8, 9);
        }
        self.cells.add(kind, &nodes)
    }

    /// One array; those of several time steps are called `name[0]`, `name[1]`, ...
    fn node_data(&mut self, body: &[&str]) -> Result<(), String> {
        let (name, mut words) = view(body)?;
        let reals = words.count()?;
        words.skip(reals)?;
        let integers = words.count()?;
        let (step, components, count) = (words.count()?, words.count()?, words.count()?);
        words.skip(integers.saturating_sub(3))?;
        let size = components
            .checked_mul(self.coords.len())
            .filter(|_| components > 0 && count == self.coords.len());
        let Some(size) = size else {
            return Err(format!(
                "{name:?} has {count} values with {components} components, but the mesh has {} nodes,",
                self.coords.len()
            ));
        };
        let mut values = vec![f64::NAN; size.min(words.rest())];
        for _ in 0..count {
            let place = self.place(words.number()?)?;
            for c in 0..components {
                let value = words.float()?;
                *values.get_mut(place * components + c).ok_or("ends early")? = value;
            }
        }
        let earlier = self.data.iter_mut().find(|a| a.name == name);
        let repeated = earlier.map(|a| a.name = format!("{name}[0]")).is_some();
        let known = self.data.iter().any(|a| a.name == format!("{name}[0]"));
        self.data.push(PointData {
            name: match repeated || known {
                true => format!("{name}[{step}]"),
                false => name,
            },
            components,
            values,
        });
        Ok(())
    }

    fn element_data(&mut self, body: &[&str]) -> Result<(), String> {
        self.in_cells.push(view(body)?.0);
        Ok(())
    }
}

/// The name of a view, the first of its strings, and the words after them.
fn view<'a>(body: &[&'a str]) -> Result<(String, Words<'a>), String> {
    let count = body
        .first()
        .and_then(|line| line.trim().parse::<usize>().ok());
    let count = count
        .filter(|count| *count < body.len())
        .ok_or("ends early")?;
    let name = body[1..=count].first().copied().unwrap_or_default();
    let name = name.trim().trim_matches('"').to_string();
    Ok((name, Words::of(&body[count + 1..])))
}

/// VTK's number for gmsh's kind of an element, and how many nodes it has.
fn vtk_kind(gmsh: usize) -> Result<(u8, usize), String> {
    Ok(match gmsh {
        1 => (kind::LINE, 2),
        2 => (kind::TRIANGLE, 3),
        3 => (kind::QUAD, 4),
        4 => (kind::TETRAHEDRON, 4),
        5 => (kind::HEXAHEDRON, 8),
        6 => (kind::WEDGE, 6),
        7 => (kind::PYRAMID, 5),
        8 => (kind::QUADRATIC_LINE, 3),
        9 => (kind::QUADRATIC_TRIANGLE, 6),
        11 => (kind::QUADRATIC_TETRAHEDRON, 10),
        15 => (kind::VERTEX, 1),
        kind => {
            return Err(format!(
                "has elements of gmsh's kind {kind}, which cannot be read; mesh with lines, triangles, quadrangles, \
                 tetrahedra, hexahedra, prisms or pyramids of first order, or triangles and tetrahedra of second,"
            ));
        }
    })
}

/// The numbers of a section.
struct Words<'a>(std::vec::IntoIter<&'a str>);

impl<'a> Words<'a> {
    fn of(lines: &[&'a str]) -> Self {
        let words: Vec<&str> = lines.iter().flat_map(|l| l.split_whitespace()).collect();
        Words(words.into_iter())
    }

    fn rest(&self) -> usize {
        self.0.len()
    }

    fn next<T: std::str::FromStr>(&mut self) -> Result<T, String> {
        let word = self.0.next().ok_or("ends early")?;
        // meshio under NumPy 2 writes numbers like this.
        let inside = word.strip_prefix("np.float64(");
        let word = inside.map_or(word, |inside| inside.trim_end_matches(')'));
        word.parse()
            .map_err(|_| format!("has {word:?} where a number belongs"))
    }

    fn count(&mut self) -> Result<usize, String> {
        self.next()
    }

    fn number(&mut self) -> Result<u64, String> {
        self.next()
    }

    fn float(&mut self) -> Result<f64, String> {
        self.next()
    }

    fn skip(&mut self, count: usize) -> Result<(), String> {
        match count {
            0 => Ok(()),
            n => self.0.nth(n - 1).map(drop).ok_or("ends early".into()),
        }
    }
}

/// The mesh as a file of version 2.2, which every program reads.
pub(crate) fn write(mesh: &Mesh) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    writeln!(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat")?;
    writeln!(out, "$Nodes\n{}", mesh.points.len())?;
    for (i, [x, y, z]) in mesh.coords_in_space().into_iter().enumerate() {
        writeln!(out, "{} {x:?} {y:?} {z:?}", i + 1)?;
    }
    let cells = mesh.cells.highest(mesh.points.len());
    writeln!(out, "$EndNodes\n$Elements\n{}", cells.len())?;
    for (i, (kind, corners)) in cells.iter().enumerate() {
        let kind = match *kind {
            kind::TETRAHEDRON => 4,
            kind::TRIANGLE => 2,
            kind::LINE => 1,
            _ => 15,
        };
        write!(out, "{} {kind} 2 1 1", i + 1)?;
        for corner in corners {
            write!(out, " {}", corner + 1)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "$EndElements")?;
    for array in &mesh.data {
        let (n, components) = (mesh.points.len(), array.components);
        let name = array.name.replace('"', "'");
        writeln!(
            out,
            "$NodeData\n1\n\"{name}\"\n1\n0\n3\n0\n{components}\n{n}"
        )?;
        for (i, values) in array.values.chunks_exact(components).enumerate() {
            write!(out, "{}", i + 1)?;
            for value in values {
                write!(out, " {value:?}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "$EndNodeData")?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 \"plate\"\n$EndPhysicalNames\n\
        $Nodes\n2 5 10 50\n2 1 0 4\n10\n20\n30\n40\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n1 1 1 1\n50\n2 0 0 0.5\n$EndNodes\n\
        $Elements\n2 2 1 2\n2 1 3 1\n1 10 20 30 40\n2 1 2 1\n2 20 50 30\n$EndElements\n\
        $NodeData\n1\n\"a field\"\n1\n0.0\n3\n0\n1\n5\n10 1\n20 2\n30 3\n40 4\n50 5e-1\n$EndNodeData\n";

    #[test]
    fn version_4_with_a_quad_and_a_name_with_a_blank() {
        let mesh = parse(SQUARE.as_bytes()).unwrap();
        assert_eq!((mesh.points.dim(), mesh.points.len()), (2, 5));
        assert_eq!(mesh.cells.triangles, [[0, 1, 2], [0, 2, 3], [1, 4, 2]]);
        assert_eq!(mesh.data[0].name, "a field");
        assert_eq!(mesh.data[0].values, [1.0, 2.0, 3.0, 4.0, 0.5]);
    }

    #[test]
    fn what_is_written_is_read() {
        let mesh = parse(SQUARE.as_bytes()).unwrap();
        let back = parse(&write(&mesh).unwrap()).unwrap();
        assert_eq!(back.points.coords(), mesh.points.coords());
        assert_eq!((back.cells, back.data), (mesh.cells, mesh.data));
    }

    #[test]
    fn numbers_as_meshio_prints_them() {
        let text = SQUARE.replace("50 5e-1", "50 np.float64(0.5)");
        assert_eq!(parse(text.as_bytes()).unwrap().data[0].values[4], 0.5);
    }

    #[test]
    fn time_steps_are_numbered() {
        let (start, view) = SQUARE.split_at(SQUARE.find("$NodeData").unwrap());
        let second = view.replace("3\n0\n1\n5", "3\n1\n1\n5");
        let mesh = parse(format!("{start}{view}{second}").as_bytes()).unwrap();
        let names: Vec<&str> = mesh.data.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["a field[0]", "a field[1]"]);
    }

    #[test]
    fn damage_is_named() {
        for (from, to, part) in [
            ("4.1 0 8", "4.1 1 8", "binary"),
            ("4.1 0 8", "1.0 0 8", "version \"1.0\""),
            ("1 10 20 30 40", "1 10 20 30 41", "node 41"),
            ("2 1 3 1", "2 1 93 1", "kind 93"),
            ("0 1 0\n1 1", "0 oops 0\n1 1", "\"oops\""),
            ("\n1\n5\n10 1", "\n1\n4\n10 1", "4 values"),
            ("40 4\n50 5e-1\n", "40 4\n", "ends early"),
            ("2 5 10 50", "99999999999999999 5 10 50", "in $Nodes"),
        ] {
            let error = parse(SQUARE.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(error.contains(part), "{to}: {error}");
        }
    }
}
