//! Meshes of VTK, as XML (`.vtu`) and in the older format (`.vtk`).

use crate::cells::kind;
use crate::{Cells, Format, Mesh, PointData, other};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use vtkio::Vtk;
use vtkio::model::{
    Attribute, Attributes, ByteOrder, CellType, Cells as VtkCells, DataArray, DataSet, IOBuffer,
    Piece, UnstructuredGridPiece, Version, VertexNumbers,
};

/// Reads the mesh in `bytes`.
pub(crate) fn parse(bytes: &[u8], format: Format) -> Result<Mesh, String> {
    for codec in ["LZMA", "LZ4"] {
        let name = format!("vtk{codec}DataCompressor");
        // In the first tag of the file.
        let start = &bytes[..bytes.len().min(1024)];
        if start.windows(name.len()).any(|w| w == name.as_bytes()) {
            return Err(format!(
                "is compressed with {codec}, which cannot be read; save it with ZLib or without compression, or read \
                 it with meshio in Python"
            ));
        }
    }
    let damaged = |reason: String| format!("cannot be read as a VTK file: {reason}");
    let parsed = quietly(|| match format {
        Format::Vtk => Vtk::parse_legacy_be(bytes),
        _ => Vtk::parse_xml(bytes),
    });
    let vtk = parsed.ok_or_else(|| damaged("its arrays do not fit together".into()))?;
    let vtk = vtk.map_err(|e| damaged(e.to_string()))?;
    let pieces = match vtk.data {
        DataSet::UnstructuredGrid { pieces, .. } => pieces,
        other => {
            return Err(format!(
                "holds {}, but only unstructured grids can be read; in ParaView, Append Datasets converts it",
                name_of(&other)
            ));
        }
    };
    // Pieces in other files are not opened: what a file names may be anything.
    let mut inline = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Inline(piece) => Some(piece),
        _ => None,
    });
    match (inline.next(), inline.next()) {
        (Some(piece), None) => mesh(&piece),
        (None, _) => Err("holds no mesh of its own; give the .vtu files that it names".into()),
        _ => Err("holds several pieces; in ParaView, save it as one .vtu file".into()),
    }
}

/// The result of a parser that panics on damaged files; `None` if it does, without printing the panic.
fn quietly<T>(parse: impl FnOnce() -> T) -> Option<T> {
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    let parsed = catch_unwind(AssertUnwindSafe(parse));
    set_hook(hook);
    parsed.ok()
}

fn name_of(data: &DataSet) -> &'static str {
    match data {
        DataSet::ImageData { .. } => "image data",
        DataSet::StructuredGrid { .. } => "a structured grid",
        DataSet::RectilinearGrid { .. } => "a rectilinear grid",
        DataSet::UnstructuredGrid { .. } => "an unstructured grid",
        DataSet::PolyData { .. } => "polygons",
        DataSet::Field { .. } => "fields without points",
    }
}

fn mesh(piece: &UnstructuredGridPiece) -> Result<Mesh, String> {
    let coords = numbers(&piece.points, "the points")?;
    let (coords, rest) = coords.as_chunks::<3>();
    if !rest.is_empty() {
        return Err("has points without three coordinates".into());
    }
    let data = piece.data.point.iter().flat_map(arrays);
    let mut mesh = Mesh::in_space(
        coords,
        cells(&piece.cells)?,
        data.collect::<Result<_, _>>()?,
    )?;
    mesh.in_cells = piece.data.cell.iter().flat_map(names).collect();
    Ok(mesh)
}

fn numbers(buffer: &IOBuffer, what: &str) -> Result<Vec<f64>, String> {
    let numbers = buffer.cast_into::<f64>();
    numbers.ok_or_else(|| format!("has something that is not a number in {what}"))
}

fn arrays(attribute: &Attribute) -> Vec<Result<PointData, String>> {
    let array = |name: &str, components: usize, data: &IOBuffer| {
        Ok(PointData {
            name: name.to_string(),
            components,
            values: numbers(data, &format!("the array {name:?}"))?,
        })
    };
    match attribute {
        Attribute::DataArray(a) => vec![array(&a.name, a.num_comp(), &a.data)],
        Attribute::Field { data_array, .. } => data_array
            .iter()
            .map(|a| array(&a.name, a.num_comp(), &a.data))
            .collect(),
    }
}

fn names(attribute: &Attribute) -> Vec<String> {
    match attribute {
        Attribute::DataArray(a) => vec![a.name.clone()],
        Attribute::Field { data_array, .. } => data_array.iter().map(|a| a.name.clone()).collect(),
    }
}

fn cells(found: &VtkCells) -> Result<Cells, String> {
    let bad = || "has cells whose numbers of corners do not fit together".to_string();
    let mut cells = Cells::default();
    match &found.cell_verts {
        VertexNumbers::Legacy { vertices, .. } => {
            let mut rest = &vertices[..];
            for kind in &found.types {
                let (&count, after) = rest.split_first().ok_or_else(bad)?;
                let (corners, after) = after.split_at_checked(count as usize).ok_or_else(bad)?;
                let corners: Vec<usize> = corners.iter().map(|&i| i as usize).collect();
                cells.add(*kind as u8, &corners)?;
                rest = after;
            }
        }
        VertexNumbers::XML {
            connectivity,
            offsets,
        } => {
            // Newer files of the older format have one more offset, in front.
            let skip = usize::from(offsets.len() == found.types.len() + 1);
            let mut start = 0;
            for (kind, &end) in found.types.iter().zip(offsets.iter().skip(skip)) {
                let end = usize::try_from(end).map_err(|_| bad())?;
                let corners = connectivity.get(start..end).ok_or_else(bad)?;
                let corners: Vec<usize> = corners.iter().map(|&i| i as usize).collect();
                cells.add(*kind as u8, &corners)?;
                start = end;
            }
        }
    }
    Ok(cells)
}

/// The mesh as a file.
pub(crate) fn write(mesh: &Mesh, format: Format) -> io::Result<Vec<u8>> {
    let (mut connectivity, mut offsets, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, corners) in mesh.cells.highest(mesh.points.len()) {
        connectivity.extend(corners.iter().map(|&i| i as u64));
        offsets.push(connectivity.len() as u64);
        types.push(match kind {
            kind::TETRAHEDRON => CellType::Tetra,
            kind::TRIANGLE => CellType::Triangle,
            kind::LINE => CellType::Line,
            _ => CellType::Vertex,
        });
    }
    let array = |array: &PointData| {
        let components = array.components as u32;
        let empty = match format {
            Format::Vtk => DataArray::scalars(&array.name, components),
            _ => DataArray::new(&array.name, components),
        };
        Attribute::DataArray(empty.with_vec(array.values.clone()))
    };
    let vtk = Vtk {
        version: match format {
            Format::Vtk => Version::new_legacy(4, 2),
            _ => Version::new_xml(1, 0),
        },
        title: "c2cnet".into(),
        byte_order: match format {
            Format::Vtk => ByteOrder::BigEndian,
            _ => ByteOrder::LittleEndian,
        },
        data: DataSet::inline(UnstructuredGridPiece {
            points: IOBuffer::new(mesh.coords_in_space().into_iter().flatten().collect()),
            cells: VtkCells {
                cell_verts: VertexNumbers::XML {
                    connectivity,
                    offsets,
                },
                types,
            },
            data: Attributes {
                point: mesh.data.iter().map(array).collect(),
                cell: Vec::new(),
            },
        }),
        file_path: None,
    };
    let mut bytes = Vec::new();
    let written = match format {
        Format::Vtk => vtk.write_legacy(&mut bytes),
        _ => vtk.write_xml(&mut bytes),
    };
    written.map_err(other)?;
    Ok(bytes)
}
