//! The ONNX Runtime library, found when the first ONNX file is opened: nothing of it is needed to build or to start.

use ort::{environment::Environment, logging::LogLevel};
use std::{env, path::Path, path::PathBuf, sync::Mutex};

/// Names the library's file, as for every program that uses `ort`.
const VARIABLE: &str = "ORT_DYLIB_PATH";

const MISSING: &str = "ONNX encoders need the ONNX Runtime library, which was not found: run `pip install onnxruntime` in \
                       the active environment, install it as a system package, or set ORT_DYLIB_PATH to its file";

/// The library, loaded at the first call that finds it; the message says what to do where there is none.
pub(super) fn environment() -> Result<&'static Environment, String> {
    static LOADED: Mutex<Option<&'static Environment>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(environment) = *loaded {
        return Ok(environment);
    }
    // It stays until the process ends, as the library itself does.
    let environment: &'static Environment = Box::leak(Box::new(load()?));
    *loaded = Some(environment);
    Ok(environment)
}

fn load() -> Result<Environment, String> {
    let started = |builder: ort::environment::EnvironmentBuilder| {
        let environment = builder.with_telemetry(false).build();
        let environment = environment.map_err(|error| format!("ONNX Runtime does not start: {}", line(&error)))?;
        // Everything that matters comes back as an error.
        environment.set_log_level(LogLevel::Fatal);
        Ok(environment)
    };
    if let Some(named) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let path = PathBuf::from(named);
        let unusable = format!("{VARIABLE} = {} is not a usable ONNX Runtime library", path.display());
        let refused = |error| format!("{unusable}: {}", line(&error));
        // As a path of its own: a bare name would be looked for beside the program.
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        return started(ort::init_from(&file).map_err(refused)?);
    }
    let mut refusal = None;
    for candidate in candidates() {
        match ort::init_from(&candidate) {
            Ok(builder) => return started(builder),
            // A file that is there but cannot be used explains more than one that is missing.
            Err(error) if candidate.is_absolute() => _ = refusal.get_or_insert(line(&error)),
            Err(_) => {}
        }
    }
    Err(refusal.map_or_else(|| MISSING.to_owned(), |refusal| format!("{MISSING} ({refusal})")))
}

fn line(error: &impl std::fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The libraries to try, in order: those of Python's packages, the active environment's first, then the system's.
fn candidates() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os).map(PathBuf::from).collect();
    roots.extend(env::var_os("HOME").map(|home| PathBuf::from(home).join(".local")));
    roots.extend(["/usr/local", "/usr"].map(PathBuf::from));
    let mut found: Vec<PathBuf> = roots.iter().flat_map(|root| in_python(root)).collect();
    let names = match () {
        () if cfg!(windows) => "onnxruntime.dll",
        () if cfg!(target_os = "macos") => "libonnxruntime.dylib",
        () => "libonnxruntime.so libonnxruntime.so.1",
    };
    found.extend(names.split(' ').map(PathBuf::from));
    found
}

/// The libraries of pip's package `onnxruntime` below a folder such as a virtual environment.
fn in_python(root: &Path) -> Vec<PathBuf> {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let pythons = sorted(&root.join("lib")).into_iter().filter(|folder| name(folder).starts_with("python"));
    let packages = pythons.flat_map(|python| ["site-packages", "dist-packages"].map(|packages| python.join(packages)));
    let packages = packages.chain([root.join("Lib/site-packages")]); // Windows
    let library = |file: &PathBuf| {
        let name = name(file);
        (name.starts_with("libonnxruntime.") || name == "onnxruntime.dll") && !name.ends_with("runtime.a")
    };
    packages.flat_map(|packages| sorted(&packages.join("onnxruntime/capi"))).filter(library).collect()
}

/// What lies in a folder, the last by name first: the newest version. Nothing where it cannot be read.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_by(|a, b| b.cmp(a));
    paths
}

#[cfg(test)]
mod tests {
    use super::in_python;
    use std::fs;

    #[test]
    fn pips_package_is_found_in_an_environment() {
        let root = tempfile::tempdir().unwrap();
        assert!(in_python(root.path()).is_empty());
        let capi = root.path().join("lib/python3.11/site-packages/onnxruntime/capi");
        fs::create_dir_all(&capi).unwrap();
        let files = ["libonnxruntime.so.1.31.1", "libonnxruntime_providers_shared.so", "onnxruntime_pybind11_state.so"];
        for name in files {
            fs::write(capi.join(name), "").unwrap();
        }
        assert_eq!(in_python(root.path()), [capi.join("libonnxruntime.so.1.31.1")]);
    }
}
