//! From a byte of a type to its name there: `.b.c`, `[1][0]`, `[3].count`; in Fortran `(3,2)%count`.
//!
//! Of a union the member is named that the access fits, if it fits exactly one; of several bit fields in a byte, the first.

use std::fmt::Write;

use super::types::{Member, Shape, TypeId, Types};

/// The members and elements that lead to a byte of a type, where `size` bytes are accessed (0: not known how many);
/// none if the byte is behind its end.
pub fn of(types: &Types, ty: TypeId, offset: u64, size: u64) -> Option<String> {
    let whole = types.get(ty);
    if whole.size > 0 && offset >= whole.size && !is_open(types, ty) {
        return None;
    }
    // Of a type that is not known only the start has a name.
    if whole.size == 0 && offset > 0 && whole.shape == Shape::Whole {
        return None;
    }
    let mut path = String::new();
    descend(types, ty, offset, size, &mut path);
    Some(path)
}

/// Whether it ends in an array of unknown length.
pub fn is_open(types: &Types, ty: TypeId) -> bool {
    match &types.get(ty).shape {
        Shape::Whole => false,
        Shape::Array { counts, .. } => matches!(counts.first(), Some(None | Some(0))),
        Shape::FortranArray { dimensions, .. } => {
            let last = dimensions.last().map(|dimension| dimension.count);
            matches!(last, Some(None | Some(0)))
        }
        Shape::Record { members, .. } => {
            let last = members.iter().max_by_key(|member| member.offset);
            last.is_some_and(|member| is_open(types, member.ty))
        }
    }
}

/// Whether the path ends with something of exactly so many bytes.
fn descend(types: &Types, ty: TypeId, offset: u64, size: u64, path: &mut String) -> bool {
    let whole = types.get(ty);
    match &whole.shape {
        Shape::Whole => offset == 0 && whole.size == size,
        Shape::Array { element, counts } => {
            let element_size = types.get(*element).size;
            // What one step is in each dimension; of an unknown inner one, nobody knows.
            let inner =
                counts[1..]
                    .iter()
                    .rev()
                    .try_fold(vec![element_size], |mut steps, count| {
                        steps.push(steps.last()?.checked_mul((*count)?)?);
                        Some(steps)
                    });
            let Some(steps) = inner.filter(|steps| steps.iter().all(|&step| step > 0)) else {
                return false;
            };
            let mut rest = offset;
            for step in steps.iter().rev() {
                let _ = write!(path, "[{}]", rest / step);
                rest %= step;
            }
            descend(types, *element, rest, size, path)
        }
        Shape::FortranArray {
            element,
            dimensions,
        } => {
            let mut step = types.get(*element).size;
            let mut rest = offset;
            let mut steps = Vec::new();
            for dimension in dimensions.iter() {
                steps.push((step, dimension));
                step = dimension
                    .count
                    .map_or(0, |count| step.saturating_mul(count));
            }
            if steps.iter().any(|(step, _)| *step == 0) {
                return false;
            }
            let mut indices: Vec<String> = Vec::new();
            for (step, dimension) in steps.iter().rev() {
                let index = dimension.first.wrapping_add_unsigned(rest / step);
                indices.insert(0, index.to_string());
                rest %= step;
            }
            let _ = write!(path, "({})", indices.join(","));
            descend(types, *element, rest, size, path)
        }
        Shape::Record {
            members,
            is_union,
            separator,
        } => {
            let there: Vec<&Member> = members
                .iter()
                .filter(|member| contains(types, member, offset))
                .collect();
            let chosen = match (&there[..], is_union) {
                ([], _) => None,
                ([only], _) => Some(*only),
                ([first, ..], false) if first.bits.is_some() => Some(*first),
                // What comes last may use what a base class leaves free at its end; what is empty takes no place.
                (several, false) => {
                    let place = |member: &&&Member| (member.offset, types.get(member.ty).size);
                    several.iter().max_by_key(place).copied()
                }
                (several, true) => {
                    let fits = |member: &&&Member| {
                        let within = offset - member.offset;
                        descend(types, member.ty, within, size, &mut String::new())
                    };
                    let mut fitting = several.iter().filter(fits);
                    fitting.next().copied().filter(|_| fitting.next().is_none())
                }
            };
            let Some(member) = chosen else {
                return offset == 0 && whole.size == size;
            };
            if let Some(name) = &member.name {
                let _ = write!(path, "{separator}{name}");
            }
            match member.bits {
                Some(_) => false,
                None => descend(types, member.ty, offset - member.offset, size, path),
            }
        }
    }
}

fn contains(types: &Types, member: &Member, offset: u64) -> bool {
    if let Some((first, count)) = member.bits {
        return first < offset * 8 + 8 && offset * 8 < first + count;
    }
    let size = types.get(member.ty).size;
    let within = offset.checked_sub(member.offset);
    within.is_some_and(|within| within < size || is_open(types, member.ty))
}

#[cfg(test)]
mod tests {
    use super::super::types::Dimension;
    use super::*;
    use std::rc::Rc;

    fn member(name: &str, offset: u64, ty: TypeId) -> Member {
        Member {
            name: (!name.is_empty()).then(|| Rc::from(name)),
            offset,
            bits: None,
            ty,
        }
    }

    fn record(types: &mut Types, size: u64, members: &[Member], is_union: bool) -> TypeId {
        let members = members.into();
        let separator = '.';
        types.add(
            size,
            Shape::Record {
                members,
                is_union,
                separator,
            },
        )
    }

    fn array(types: &mut Types, element: TypeId, counts: &[Option<u64>]) -> TypeId {
        let all = counts
            .iter()
            .map(|count| count.unwrap_or(0))
            .product::<u64>();
        let size = all * types.get(element).size;
        let counts = counts.into();
        types.add(size, Shape::Array { element, counts })
    }

    #[test]
    fn members_and_elements_lead_to_a_byte() {
        let mut types = Types::default();
        let int = types.add(4, Shape::Whole);
        let row = array(&mut types, int, &[Some(2), Some(3)]);
        let slot = record(
            &mut types,
            32,
            &[member("id", 0, int), member("table", 8, row)],
            false,
        );
        let slots = array(&mut types, slot, &[Some(4)]);
        for (offset, name) in [
            (0, "[0].id"),
            (2, "[0].id"),
            (4, "[0]"),
            (8, "[0].table[0][0]"),
            (32 + 8 + 12, "[1].table[1][0]"),
            (96 + 8 + 20, "[3].table[1][2]"),
        ] {
            assert_eq!(
                of(&types, slots, offset, 4).as_deref(),
                Some(name),
                "{offset}"
            );
        }
        assert_eq!(of(&types, slots, 128, 4), None);
    }

    #[test]
    fn fortran_counts_by_columns_from_where_it_is_told() {
        let mut types = Types::default();
        let real = types.add(8, Shape::Whole);
        let dimension = |first, count| Dimension { first, count };
        let mut array = |dimensions: &[Dimension], size| {
            let (element, dimensions) = (real, dimensions.into());
            types.add(
                size,
                Shape::FortranArray {
                    element,
                    dimensions,
                },
            )
        };
        let matrix = array(&[dimension(1, Some(4)), dimension(-1, Some(3))], 96);
        let open = array(&[dimension(1, Some(4)), dimension(1, None)], 0);
        let unknown = array(&[dimension(1, None), dimension(1, None)], 0);
        assert_eq!(of(&types, matrix, 0, 8).unwrap(), "(1,-1)");
        assert_eq!(of(&types, matrix, 8 * 6, 8).unwrap(), "(3,0)");
        assert_eq!(of(&types, matrix, 96, 8), None);
        assert_eq!(of(&types, open, 8 * 4 * 6, 8).unwrap(), "(1,7)");
        assert_eq!(of(&types, unknown, 8, 8).unwrap(), "");
    }

    #[test]
    fn a_union_is_the_member_that_fits() {
        let mut types = Types::default();
        let [byte, int, long] = [1, 4, 8].map(|size| types.add(size, Shape::Whole));
        let bytes = array(&mut types, byte, &[Some(8)]);
        let members = [
            member("bytes", 0, bytes),
            member("long", 0, long),
            member("int", 0, int),
        ];
        let all = record(&mut types, 8, &members, true);
        let name = |offset, size| of(&types, all, offset, size).unwrap();
        assert_eq!(name(0, 8), ".long");
        assert_eq!(name(0, 4), ".int");
        assert_eq!(name(2, 1), ".bytes[2]");
        assert_eq!(name(0, 2), "");
        assert_eq!(name(0, 0), "");
    }

    #[test]
    fn what_has_no_name_is_folded() {
        let mut types = Types::default();
        let int = types.add(4, Shape::Whole);
        let base = record(
            &mut types,
            8,
            &[member("a", 0, int), member("b", 4, int)],
            false,
        );
        let object = record(
            &mut types,
            12,
            &[member("", 0, base), member("c", 8, int)],
            false,
        );
        assert_eq!(of(&types, object, 4, 4).as_deref(), Some(".b"));
        assert_eq!(of(&types, object, 8, 4).as_deref(), Some(".c"));
    }

    #[test]
    fn the_first_bit_field_of_a_byte_is_named() {
        let mut types = Types::default();
        let int = types.add(4, Shape::Whole);
        let bits = |name, first, count| Member {
            bits: Some((first, count)),
            ..member(name, first / 8, int)
        };
        let members = [bits("a", 0, 3), bits("b", 3, 7), bits("c", 10, 2)];
        let flags = record(&mut types, 4, &members, false);
        assert_eq!(of(&types, flags, 0, 1).as_deref(), Some(".a"));
        assert_eq!(of(&types, flags, 1, 1).as_deref(), Some(".b"));
        assert_eq!(of(&types, flags, 2, 1).as_deref(), Some(""));
    }

    #[test]
    fn arrays_at_the_end_have_any_length() {
        let mut types = Types::default();
        let int = types.add(4, Shape::Whole);
        let open = array(&mut types, int, &[None]);
        let list = record(
            &mut types,
            4,
            &[member("count", 0, int), member("items", 4, open)],
            false,
        );
        assert_eq!(of(&types, list, 12, 4).as_deref(), Some(".items[2]"));
    }
}
