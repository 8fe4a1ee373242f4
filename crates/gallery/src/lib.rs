//! Galleries.
