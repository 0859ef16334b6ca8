//! Records in few bytes: code in a loop does the same again, a step further.
//!
//! The simple model: a list of words, each as it is. Packed, it is a list of *surprises*, and how many words
//! before each were as expected.
//!
//! What is expected: every site has a *track*, which knows its last word, how far the one before lay from it, and which
//! track came next. The word expected is that of the next track, as far on as it went before. A step counts once it was
//! seen twice, so that a loop's end costs one surprise. Stamps and times, which only ever go up, are always surprises,
//! told by how far they have gone up.
//!
//! Both sides start from the same tracks with each chunk and learn the same from each word, so nothing but surprises need be told.
//!
//! # Form
//! The number of words and that of the bytes of surprises (4 bytes each), then surprises. One is a byte `expected << 4 |
//! known << 3 | bytes`: how many words before it were as expected (15: so many, and as many as the following varint
//! says), whether its upper 16 bits are those expected, and how many bytes its difference has. Then its upper 16 bits, if
//! they are not, and the difference of the lower 48 to the track's last word, its sign in the lowest bit. Behind the last
//! surprise all words are as expected.
//!
//! Cost: a few operations a word that is as expected; a packed list may be longer than the list, by an eighth.

use crate::{BUFFER, FIRST_SITE, PAYLOAD, Stamped, Unstamped};

/// How many tracks sites share, and records that are none.
const SITE_TRACKS: usize = 256;
const OTHER_TRACKS: usize = 256;
/// Times between accesses; stamps, times and sizes of other records.
const TIMES: usize = SITE_TRACKS + OTHER_TRACKS;
const NUMBERS: usize = TIMES + 1;
const TRACKS: usize = NUMBERS + 3;
/// The record that tells the time of what follows.
const TIME: u64 = Unstamped::Time as u64;
/// Numbers of records of several words, whose second word is about code.
const LONG: std::ops::Range<u64> = Unstamped::Elsewhere as u64..FIRST_SITE;
/// Those whose third word is a stamp.
const STAMPED: std::ops::Range<u64> = Stamped::Freed as u64..FIRST_SITE;
/// The most words there are in a chunk, whatever a damaged one says.
const MOST: usize = BUFFER / 8;
/// The most that a surprise's first byte says of what was expected.
const MANY: usize = 15;
const KNOWN: u8 = 1 << 3;
/// Room for the longest surprise: a byte, three of a varint, two, and six.
const LONGEST: usize = 12;
/// Bytes before the surprises.
const COUNTS: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Track {
    last: u64,
    /// How far the next word is expected to be.
    step: u64,
    /// How far the last one was.
    way: u64,
    /// The track expected after this one.
    next: usize,
}

/// Room for what both sides learn. See the [module](self).
#[derive(Debug)]
pub struct Packing {
    tracks: [Track; TRACKS],
}

/// What both sides have learnt.
struct Habits<'a> {
    tracks: &'a mut [Track; TRACKS],
    /// The track of the last word that has one.
    at: usize,
    /// How many words without a number there were in a row, but one.
    numbers: usize,
}

impl Habits<'_> {
    /// The next word, if it is as expected.
    #[inline(always)]
    fn expected(&self) -> u64 {
        let track = &self.tracks[self.tracks[self.at].next];
        track.last.wrapping_add(track.step)
    }

    /// The upper bits of a word that is not as expected, most likely: in a record with a stamp, the stamp and the time come last.
    #[inline]
    fn number(&self, expected: u64, past: [u64; 2]) -> u64 {
        let [before, previous] = past;
        let is_stamp = STAMPED.contains(&before) && previous != 0;
        let is_time = previous == 0 && self.numbers == 0;
        if is_stamp || is_time {
            0
        } else {
            expected >> 48
        }
    }

    /// It was as expected.
    #[inline(always)]
    fn confirm(&mut self, word: u64) {
        self.at = self.tracks[self.at].next;
        self.tracks[self.at].last = word;
    }

    /// The track of a word with such upper bits that was not expected.
    #[inline]
    fn track(&mut self, number: u64, [_, previous]: [u64; 2]) -> usize {
        self.numbers = if previous == 0 { self.numbers + 1 } else { 0 };
        match number {
            0 => NUMBERS + self.numbers.min(2),
            TIME => TIMES,
            // What such a record is about depends on what was done before it.
            _ if number < FIRST_SITE || LONG.contains(&previous) => {
                let mixed = number.wrapping_mul(0x9E37) ^ (self.at as u64).wrapping_mul(0x85EB);
                SITE_TRACKS + (mixed ^ mixed >> 9) as usize % OTHER_TRACKS
            }
            _ => number as usize % SITE_TRACKS,
        }
    }

    /// Learns from a word that was not expected.
    #[inline]
    fn learn(&mut self, track: usize, word: u64) {
        if track < TIMES {
            self.tracks[self.at].next = track;
            self.at = track;
        }
        let known = &mut self.tracks[track];
        let way = word.wrapping_sub(known.last);
        if way == known.way {
            known.step = way;
        }
        known.way = way;
        known.last = word;
    }
}

impl Packing {
    const FRESH: Track = Track {
        last: 0,
        step: 0,
        way: 0,
        next: 0,
    };

    /// Some room.
    pub const fn new() -> Packing {
        Packing {
            tracks: [Packing::FRESH; TRACKS],
        }
    }

    /// Nothing is learnt yet.
    fn begin(&mut self) -> Habits<'_> {
        self.tracks.fill(Packing::FRESH);
        Habits {
            tracks: &mut self.tracks,
            at: 0,
            numbers: 0,
        }
    }

    /// Packs words, and says how many bytes they have become. None: there is no room for them.
    pub fn pack(&mut self, words: &[u64], out: &mut [u8]) -> Option<usize> {
        let mut habits = self.begin();
        let mut end = COUNTS;
        let mut hits = 0;
        for (index, &word) in words.iter().enumerate() {
            let expected = habits.expected();
            if word == expected {
                habits.confirm(word);
                hits += 1;
                continue;
            }
            let room = out.get_mut(end..)?.first_chunk_mut::<LONGEST>()?;
            let number = word >> 48;
            let past = past(&words[..index]);
            let known = number == habits.number(expected, past);
            let track = habits.track(number, past);
            let difference = zigzag(word.wrapping_sub(habits.tracks[track].last));
            let bytes = (71 - difference.leading_zeros() as usize) / 8;
            let known_bit = if known { KNOWN } else { 0 };
            let head = u64::from((hits.min(MANY) as u8) << 4 | known_bit | bytes as u8);
            if hits < MANY {
                // All at once: what lies behind is written over.
                let (told, at) = match known {
                    true => (head | difference << 8, 1),
                    false => (head | number << 8 | difference << 24, 3),
                };
                room[..8].copy_from_slice(&told.to_le_bytes());
                room[8] = (difference >> 40) as u8;
                end += at + bytes;
            } else {
                end +=
                    surprise_after_many(room, hits - MANY, head, number, known, difference) + bytes;
            }
            hits = 0;
            habits.learn(track, word);
        }
        let counts = [words.len(), end - COUNTS];
        for (count, room) in counts
            .into_iter()
            .zip(out.get_mut(..COUNTS)?.chunks_exact_mut(4))
        {
            room.copy_from_slice(&u32::try_from(count).ok()?.to_le_bytes());
        }
        Some(end)
    }

    /// Takes packed words apart, as far as they are such. There are no others in `words`.
    pub fn unpack(&mut self, bytes: &[u8], words: &mut Vec<u64>) {
        let mut habits = self.begin();
        let mut rest = bytes;
        let Some(mut left) = take(&mut rest, 4).map(|count| (count as usize).min(MOST)) else {
            return;
        };
        let length = take(&mut rest, 4).unwrap_or(0);
        rest = &rest[..rest.len().min(length as usize)];
        while left > 0 {
            let surprise = Surprise::read(&mut rest);
            let hits = surprise.as_ref().map_or(left, |surprise| surprise.hits);
            for _ in 0..hits.min(left) {
                let word = habits.expected();
                habits.confirm(word);
                words.push(word);
            }
            left -= hits.min(left);
            let Some(surprise) = surprise.filter(|_| left > 0) else {
                return;
            };
            let past = past(words);
            let likely = habits.number(habits.expected(), past);
            let number = surprise.number.unwrap_or(likely);
            let track = habits.track(number, past);
            let way = unzigzag(surprise.difference);
            let payload = habits.tracks[track].last.wrapping_add(way) & PAYLOAD;
            let word = number << 48 | payload;
            habits.learn(track, word);
            words.push(word);
            left -= 1;
        }
    }
}

impl Default for Packing {
    fn default() -> Packing {
        Packing::new()
    }
}

/// The upper bits of the last two words.
#[inline]
fn past(words: &[u64]) -> [u64; 2] {
    match words {
        [.., before, previous] => [before >> 48, previous >> 48],
        [only] => [0, only >> 48],
        [] => [0; 2],
    }
}

/// Writes a surprise after many words that were as expected. How many bytes there are before its difference.
fn surprise_after_many(
    room: &mut [u8; LONGEST],
    mut more: usize,
    head: u64,
    number: u64,
    known: bool,
    difference: u64,
) -> usize {
    room[0] = head as u8;
    let mut at = 1;
    while more >= 0x80 {
        room[at] = more as u8 | 0x80;
        more >>= 7;
        at += 1;
    }
    room[at] = more as u8;
    at += 1;
    if !known {
        room[at..at + 2].copy_from_slice(&(number as u16).to_le_bytes());
        at += 2;
    }
    room[at..at + 6].copy_from_slice(&difference.to_le_bytes()[..6]);
    at
}

/// A difference of 48 bits with its sign in the lowest one.
#[inline]
fn zigzag(difference: u64) -> u64 {
    let signed = (difference << 16) as i64 >> 16;
    ((signed << 1 ^ signed >> 63) as u64) & PAYLOAD
}

fn unzigzag(packed: u64) -> u64 {
    packed >> 1 ^ (packed & 1).wrapping_neg()
}

/// The number that so many bytes are.
fn take(rest: &mut &[u8], bytes: usize) -> Option<u64> {
    let (taken, after) = rest.split_at_checked(bytes)?;
    *rest = after;
    let mut number = [0; 8];
    number[..bytes].copy_from_slice(taken);
    Some(u64::from_le_bytes(number))
}

struct Surprise {
    hits: usize,
    number: Option<u64>,
    difference: u64,
}

impl Surprise {
    fn read(rest: &mut &[u8]) -> Option<Surprise> {
        let head = take(rest, 1)? as u8;
        let mut hits = usize::from(head >> 4);
        if hits == MANY {
            for shift in (0..28).step_by(7) {
                let byte = take(rest, 1)?;
                hits += ((byte & 0x7f) << shift) as usize;
                if byte & 0x80 == 0 {
                    break;
                }
            }
        }
        let number = match head & KNOWN {
            0 => Some(take(rest, 2)?),
            _ => None,
        };
        let difference = take(rest, usize::from(head & 7).min(6))?;
        Some(Surprise {
            hits,
            number,
            difference,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head;

    fn packed(words: &[u64]) -> Option<Vec<u8>> {
        let mut out = vec![0xaa; words.len() * 9 + 64];
        let length = Packing::new().pack(words, &mut out)?;
        out.truncate(length);
        Some(out)
    }

    fn unpacked(bytes: &[u8]) -> Vec<u64> {
        let mut words = Vec::new();
        Packing::new().unpack(bytes, &mut words);
        words
    }

    /// What a thread might write: loops over sites, calls, times, and records with stamps.
    fn records(rng: &mut fastrand::Rng) -> Vec<u64> {
        let mut words = Vec::new();
        let mut now = rng.u64(..1 << 40);
        while words.len() < 3000 {
            now += rng.u64(..100);
            match rng.u32(..6) {
                0 => words.push(head(Unstamped::Time.into(), now)),
                1 => {
                    let stamped = rng.choice(Stamped::ALL).copied().unwrap();
                    let record = head(stamped.into(), rng.u64(..4) << 12);
                    words.extend([record, rng.u64(..64) << 48 | rng.u64(..8), now / 3, now]);
                }
                2 => {
                    let (caller, depth) = (rng.u64(..8), rng.u64(..4));
                    words.push(head(Unstamped::Entered.into(), caller));
                    words.push(head(Unstamped::Left.into(), depth));
                }
                3 => words.push(rng.u64(..)),
                _ => {
                    let sites: Vec<(u64, u64)> = (0..rng.u64(1..4))
                        .map(|_| (rng.u64(32..), rng.u64(..64).wrapping_sub(32)))
                        .collect();
                    let base = rng.u64(..);
                    for round in 0..rng.u64(..60) {
                        let word = |(site, step): &(u64, u64)| {
                            site << 48 | base.wrapping_add(step.wrapping_mul(round)) & PAYLOAD
                        };
                        words.extend(sites.iter().map(word));
                    }
                }
            }
        }
        words
    }

    #[test]
    fn words_are_the_same_after_packing() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let mut words = records(&mut rng);
            words.truncate(rng.usize(..=words.len()));
            assert_eq!(unpacked(&packed(&words).unwrap()), words);
            let noise: Vec<u64> = (0..rng.usize(..100)).map(|_| rng.u64(..)).collect();
            assert_eq!(unpacked(&packed(&noise).unwrap()), noise);
        }
    }

    #[test]
    fn a_loop_costs_what_its_ends_cost() {
        // Two arrays: rows of one are gone over again and again, the other in columns.
        let word = |site: u64, address: u64| site << 48 | address;
        let round = |row: u64| {
            (0..320).flat_map(move |at| {
                [
                    word(900, 0x5000_0000 + 8 * at),
                    word(77, 0x6000_0000 + 8 * row + 2560 * at),
                ]
            })
        };
        let words: Vec<u64> = (0..6).flat_map(round).collect();
        let bytes = packed(&words).unwrap();
        assert_eq!(unpacked(&bytes), words);
        assert!(bytes.len() < 120, "{}", bytes.len());
    }

    #[test]
    fn too_little_room_is_told() {
        let noise: Vec<u64> = (1..100)
            .map(|at: u64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        let mut out = [0; 800];
        assert_eq!(Packing::new().pack(&noise, &mut out), None);
    }

    #[test]
    fn whatever_the_bytes_are_there_are_words() {
        let mut rng = fastrand::Rng::with_seed(2);
        for _ in 0..2000 {
            let mut bytes = packed(&records(&mut rng)[..500]).unwrap();
            for _ in 0..rng.usize(1..4) {
                let place = rng.usize(..bytes.len());
                bytes[place] = rng.u8(..);
            }
            bytes.truncate(rng.usize(..=bytes.len()));
            assert!(unpacked(&bytes).len() <= MOST);
        }
    }
}
