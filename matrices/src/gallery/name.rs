//! From a name to its family and parameters.

use super::error::GalleryError;
use super::{FAMILIES, Family};

/// The seed of a name that has none.
const SEED: u64 = 1;
/// No parameter of a sane size is above this; products of a few stay far from overflow.
const MAX_PARAMETER: usize = 1_000_000_000;

/// The family whose form the name has, the parameters in the order of the form, and the seed.
pub(super) fn parse(name: &str) -> Result<(&'static Family, Vec<usize>, u64), GalleryError> {
    let (stem, seed) = match name.split_once('@') {
        Some((stem, seed)) => (stem, Some(seed)),
        None => (name, None),
    };
    let named = || name.to_owned();
    let (family, words) = FAMILIES
        .iter()
        .find_map(|family| Some((family, fit(family.form, stem)?)))
        .ok_or_else(|| GalleryError::Unknown { name: named() })?;
    let parameter = |why| GalleryError::Parameter { name: named(), why };
    let args = words
        .iter()
        .map(|word| word.parse().ok().filter(|&v| v <= MAX_PARAMETER))
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(|| parameter("a parameter is above 1000000000"))?;
    let seed = match seed {
        None => SEED,
        Some(_) if !family.random => return Err(GalleryError::NoSeed { name: named() }),
        Some(digits) if is_number(digits) => digits
            .parse()
            .map_err(|_| parameter("the seed must stay below 2^64"))?,
        Some(_) => return Err(parameter("behind the @ there must be a number, the seed")),
    };
    Ok((family, args, seed))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

/// The digits that stand where the form has `<parameter>`, when everything else is the same.
fn fit<'a>(form: &str, mut name: &'a str) -> Option<Vec<&'a str>> {
    let mut words = Vec::new();
    let mut parts = form.split('<');
    name = name.strip_prefix(parts.next()?)?;
    for part in parts {
        let literal = part.split_once('>')?.1;
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return None;
        }
        words.push(&name[..digits]);
        name = name[digits..].strip_prefix(literal)?;
    }
    name.is_empty().then_some(words)
}
