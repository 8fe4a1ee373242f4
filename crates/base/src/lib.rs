//! Files, locks, errors and text for all crates of LocDiff. It depends on none of them.
//!
//! | you want | item |
//! |---|---|
//! | an output file that appears completely or not at all | [`AtomicFile`] |
//! | the reason why it cannot be written, in one line | [`WriteError`] |
//! | a journal of actions, so that they can be undone | [`Journal`], [`JournalError`] |
//! | a name resolved inside a folder, never outside it | [`inside`] |
//! | a file that is no link | [`own_file`], [`name_count`] |
//! | files and folders that only their owner may read | [`private`], [`make_folder`], [`make_private_folder`], [`AtomicFile::create_like`] |
//! | standard output that may be closed or full | [`StandardOutput`] |
//! | a lock that keeps other runs from an output | [`OutputLock`], [`LockError`] |
//! | the error for a setting out of range | [`BadSetting`], [`setting`] |
//! | an enum whose values a user chooses by name | [`Named`] |
//! | the tensors of a safetensors file, one by one | [`TensorFile`], [`TensorHeader`] |
//! | floating-point numbers in files | [`Element`] |
//! | a user's file, checked to be regular and within a size | [`read_bounded`], [`read_text_bounded`], [`special_kind`] |
//! | dates and times of the calendar | [`civil_time`], [`days_from_civil`], [`read_time`] |
//! | the time of each stage of a command | [`timed`], [`tell_times`] |
//! | text inside HTML, SVG and XML | [`escape_markup`] |
//! | untrusted text on one line of a message | [`one_line`], [`excerpt`], [`display_name`], [`counted`] |

mod atomic;
mod bounded;
mod civil;
mod element;
mod inside;
mod journal;
mod lock;
mod markup;
mod mode;
mod named;
mod one_line;
mod setting;
mod standard;
mod tensor_file;
mod timing;

pub use atomic::{AtomicFile, WriteError};
pub use bounded::{read_bounded, read_text_bounded, special_kind};
pub use civil::{civil_time, days_from_civil, offset_seconds, read_time, seconds_of};
pub use element::Element;
pub use inside::{inside, name_count, own_file};
pub use journal::{Journal, JournalError};
pub use lock::{LockError, OutputLock};
pub use markup::escape_markup;
pub use mode::{make_folder, make_private_folder, private};
pub use named::Named;
pub use one_line::{counted, display_name, distance, excerpt, kilometres, one_line};
pub use setting::{BadSetting, setting};
pub use standard::StandardOutput;
pub use tensor_file::{TensorFile, TensorFileError, TensorHeader, TensorPlace};
pub use timing::{tell_times, timed};
