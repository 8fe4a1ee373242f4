//! One tree of errors: every message is the library's one line.

use locdiff::{ErrorKind, LocateError};
use pyo3::{create_exception, exceptions::PyException, prelude::*};

create_exception!(locdiff, LocDiffError, PyException, "Whatever went wrong: the root of all errors of this package.");
create_exception!(locdiff, PhotoError, LocDiffError, "A photo that cannot be read.");
create_exception!(locdiff, SettingError, LocDiffError, "A setting out of range, or settings that do not go together.");
create_exception!(
    locdiff,
    ModelError,
    LocDiffError,
    "A model, encoder or gallery that cannot be used, or that does not fit."
);
create_exception!(
    locdiff,
    DataError,
    LocDiffError,
    "A file of embeddings, places or answers that cannot be read or written."
);
create_exception!(locdiff, DeviceError, LocDiffError, "A device that is not there or failed.");
create_exception!(locdiff, JobError, LocDiffError, "A batch job that is damaged, unfinished or in use.");

/// Puts them into the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("LocDiffError", py.get_type::<LocDiffError>())?;
    module.add("PhotoError", py.get_type::<PhotoError>())?;
    module.add("SettingError", py.get_type::<SettingError>())?;
    module.add("ModelError", py.get_type::<ModelError>())?;
    module.add("DataError", py.get_type::<DataError>())?;
    module.add("DeviceError", py.get_type::<DeviceError>())?;
    module.add("JobError", py.get_type::<JobError>())
}

/// An error of the locator.
pub(crate) fn locate(error: &LocateError) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        _ if error.is_about_photo() => PhotoError::new_err(message),
        ErrorKind::Setting | ErrorKind::Region | ErrorKind::Prior => SettingError::new_err(message),
        ErrorKind::Device => DeviceError::new_err(message),
        ErrorKind::Data => DataError::new_err(message),
        _ => ModelError::new_err(message),
    }
}

/// An error of a batch job.
pub(crate) fn batch(error: &locdiff::batch::BatchError) -> PyErr {
    use locdiff::batch::BatchError;
    match error {
        BatchError::Locate(error) => locate(error),
        BatchError::Setting(_) | BatchError::Choice { .. } | BatchError::NoShard { .. } => {
            SettingError::new_err(error.to_string())
        }
        BatchError::Data(_) | BatchError::Write(_) | BatchError::Ingest(_) => DataError::new_err(error.to_string()),
        _ => JobError::new_err(error.to_string()),
    }
}

/// Any error of one kind.
pub(crate) trait OrRaise<T> {
    /// As a setting out of range.
    fn or_setting(self) -> PyResult<T>;
    /// As a file that cannot be used.
    fn or_data(self) -> PyResult<T>;
    /// As a model that cannot be used.
    fn or_model(self) -> PyResult<T>;
}

impl<T, E: std::fmt::Display> OrRaise<T> for Result<T, E> {
    fn or_setting(self) -> PyResult<T> {
        self.map_err(|error| SettingError::new_err(error.to_string()))
    }

    fn or_data(self) -> PyResult<T> {
        self.map_err(|error| DataError::new_err(error.to_string()))
    }

    fn or_model(self) -> PyResult<T> {
        self.map_err(|error| ModelError::new_err(error.to_string()))
    }
}
