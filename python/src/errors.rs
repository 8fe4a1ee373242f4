//! One tree of errors: every message is the library's one line.

use locdiff::{ErrorKind, LocateError, batch::BatchError};
use pyo3::{create_exception, exceptions::PyException, prelude::*};

macro_rules! exceptions {
    ($($name:ident of $base:ident: $doc:literal;)*) => {
        $(create_exception!(locdiff, $name, $base, $doc);)*

        /// Puts them into the module.
        pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add(stringify!($name), module.py().get_type::<$name>())?;)*
            Ok(())
        }
    };
}

exceptions! {
    LocDiffError of PyException: "Whatever went wrong: the root of all errors of this package.";
    PhotoError of LocDiffError: "A photo that cannot be read.";
    SettingError of LocDiffError: "A setting out of range, or settings that do not go together.";
    ModelError of LocDiffError: "A model, encoder or gallery that cannot be used, or that does not fit.";
    DataError of LocDiffError: "A file of embeddings, places or answers that cannot be read or written.";
    DeviceError of LocDiffError: "A device that is not there or failed.";
    JobError of LocDiffError: "A batch job that is damaged, unfinished or in use.";
}

/// An error of the locator.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn locate(error: LocateError) -> PyErr {
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
pub(crate) fn batch(error: BatchError) -> PyErr {
    match error {
        BatchError::Locate(error) => locate(error),
        BatchError::Setting(_) | BatchError::Choice { .. } | BatchError::NoShard { .. } => {
            SettingError::new_err(error.to_string())
        }
        BatchError::Data(_) | BatchError::Write(_) | BatchError::Ingest(_) => DataError::new_err(error.to_string()),
        _ => JobError::new_err(error.to_string()),
    }
}

/// Any error as one of a kind: a setting, a file or a model.
pub(crate) trait OrRaise<T> {
    fn or_setting(self) -> PyResult<T>;
    fn or_data(self) -> PyResult<T>;
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
