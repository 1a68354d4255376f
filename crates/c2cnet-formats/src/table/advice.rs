//! What to do with a table whose columns have names of their own, or none.

/// What a table holds beside its header, as far as advice depends on it.
pub(super) struct Look<'a> {
    pub header: &'a [&'a str],
    /// Whether most values of the first column occur several times, as those of samples do.
    pub repeats: &'a dyn Fn() -> bool,
    /// Whether outputs are not needed.
    pub inputs_alone: bool,
}

/// A table with a row for each sample and a column for each point: how it becomes a data file.
const WIDE: &str = "for a table with a row per sample and a column per point: numpy.loadtxt, then numpy.savez(x=..., \
                    f=..., y=..., u=...)";

/// Columns that an example names, at most.
const MOST_LISTED: usize = 8;

/// Numbers that are shown of many.
const FEW: usize = 3;

/// What is wrong with a table that begins with numbers, if it does.
pub(super) fn of_numbers(header: &[&str]) -> Option<String> {
    // Without a separator that is known, a line is one cell.
    let cells: Vec<&str> = header.iter().flat_map(|h| h.split_whitespace()).collect();
    if cells.is_empty() || !cells.iter().all(|cell| cell.parse::<f64>().is_ok()) {
        return None;
    }
    Some(format!(
        "begins with numbers ({}); its first line must name the columns, such as sample,x,f,u, and a row for each \
         reading is needed; {WIDE}",
        listed(&cells, FEW, ", ")
    ))
}

/// How columns with other names are read, the likely form first: without coordinates they may be parameters and
/// quantities.
pub(super) fn other_names(look: &Look<'_>, points: &[usize]) -> String {
    let repeats = (look.repeats)();
    let functions = functions(look, repeats);
    let mut forms = match parameters(look).filter(|_| points.is_empty()) {
        Some(parameters) if repeats => vec![functions, parameters],
        Some(parameters) => vec![parameters, functions],
        None => vec![functions],
    };
    if look.header.len() > MOST_LISTED {
        forms.push(WIDE.into());
    }
    let lines = forms.iter().map(|form| format!("\n  {form}"));
    format!("to give columns other names:{}", lines.collect::<String>())
}

/// The form of a table of functions, with the names of its columns where the first one tells samples apart.
fn functions(look: &Look<'_>, repeats: bool) -> String {
    let begin = "functions, a row for each reading: c2cnet convert FILE -o data.npz";
    match (look.header, look.inputs_alone) {
        ([sample, x @ .., f, u], false) if repeats && !x.is_empty() => {
            format!(
                "{begin} --sample {sample} --x {} --f {f} --u {u}",
                x.join(",")
            )
        }
        ([sample, x @ .., f], true) if repeats && !x.is_empty() => {
            format!("{begin} --sample {sample} --x {} --f {f}", x.join(","))
        }
        (_, false) => format!("{begin} --sample NAME --x NAME,NAME --f NAME --u NAME"),
        (_, true) => format!("{begin} --sample NAME --x NAME,NAME --f NAME"),
    }
}

/// The form of a table of parameters and quantities, if there may be such.
fn parameters(look: &Look<'_>) -> Option<String> {
    let begin = "a row for each sample: c2cnet convert FILE -o data.npz";
    match (look.header, look.inputs_alone) {
        ([], _) | ([_], false) => None,
        (all, true) => Some(format!(
            "parameters, {begin} --p {}",
            listed(all, MOST_LISTED, ",")
        )),
        ([parameters @ .., quantity], false) => Some(format!(
            "parameters and quantities, {begin} --p {} --q {quantity} (if the last column is the output)",
            listed(parameters, MOST_LISTED, ",")
        )),
    }
}

/// The first of them, and that there are more.
fn listed(names: &[&str], most: usize, separator: &str) -> String {
    let mut shown = names[..most.min(names.len())].to_vec();
    if names.len() > most {
        shown.push("...");
    }
    shown.join(separator)
}
