//! Folders that appear when they are complete, though several processes may make them at the same time.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context as _, Result};

/// Makes a folder all at once: `fill` writes beside it, and the result moves into place when it is whole. Who comes
/// while another process makes the same folder waits for that.
pub fn build(folder: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let parent = folder.parent().context("the root is no folder to make")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    let lock_path = folder.with_extension("lock");
    let lock = File::create(&lock_path).with_context(|| format!("cannot create {}", lock_path.display()))?;
    // A file system without locks: the same is made twice.
    let _ = lock.lock();
    if folder.is_dir() {
        return Ok(());
    }
    let aside = folder.with_extension(format!("partial-{}", std::process::id()));
    if aside.exists() {
        fs::remove_dir_all(&aside)?;
    }
    fs::create_dir_all(&aside).with_context(|| format!("cannot create {}", aside.display()))?;
    fill(&aside)?;
    match fs::rename(&aside, folder) {
        // Another build was first: what it made is the same.
        Err(_) if folder.is_dir() => Ok(fs::remove_dir_all(&aside)?),
        result => result.with_context(|| format!("cannot move {} into place", folder.display())),
    }
}
