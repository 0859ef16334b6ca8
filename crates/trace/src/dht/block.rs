//! Events of one strand to bytes and back.
//!
//! The simple model: the events, one after the other, 16 bytes each.
//!
//! The idea: a strand does the same things again and again. What it does, where, to what, is an *act*; a
//! block has a list of its acts in the order in which they are first done, and then only says which act
//! each event is, as the difference to the act before: 1 wherever a sequence of acts comes again, or
//! new ones come, and at most 16 bits. An act is a *place* (operation, detail, site: of these there are
//! few) and an object, which is near the one that the same place had before. All is kept in columns of
//! like numbers, the two bytes of a 16-bit number in columns of their own, and compressed.
//!
//! Decoding an event is looking up an act: a few instructions, whatever the act is. What a file says is
//! checked once for each act.
//!
//! Cost: a block knows nothing of others, so any can be decoded by itself; at most 2 MiB decoded.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use deadheat_model::{Event, Site, Strand};
use zstd::bulk::Decompressor;

use super::columns::{
    ColumnReader, ColumnWriter, fold, get_number_of_any_length, put_number, unfold,
};
use super::layout::{Head, MAX_BLOCK_EVENTS};
use super::runs::{RunCursor, Runs};
use crate::error::BlockProblem;
use deadheat_model::words::{Table, Takes, takes};

/// How many objects there are, by table.
pub(super) type Sizes = [u64; Table::ALL.len()];

/// Bytes that a number takes in a column, at most.
const MAX_NUMBER: usize = 10;

/// Numbers of 16 bits in two columns.
#[derive(Default)]
struct Halves {
    low: Vec<u8>,
    high: Vec<u8>,
    last: u16,
}

impl Halves {
    fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
        self.last = 0;
    }

    #[inline]
    fn push(&mut self, number: u16) {
        let [low, high] = number.wrapping_sub(self.last).to_le_bytes();
        self.low.push(low);
        self.high.push(high);
        self.last = number;
    }

    fn take(
        &mut self,
        columns: &mut ColumnReader<'_>,
        what: &'static str,
        count: usize,
    ) -> Result<(), BlockProblem> {
        columns.take(what, count, &mut self.low)?;
        columns.take(what, count, &mut self.high)?;
        self.last = 0;
        match self.low.len() == count && self.high.len() == count {
            true => Ok(()),
            false => Err(BlockProblem::Content(what)),
        }
    }
}

/// Events to bytes.
pub(super) struct Encoder {
    columns: ColumnWriter,
    acts: Acts,
    which: Halves,
    payload: Vec<u8>,
}

/// The acts of a block while it is made.
#[derive(Default)]
struct Acts {
    events: Vec<Event>,
    numbers: HashTable<u16>,
    places: Halves,
    objects: Vec<u8>,
    /// Operation and detail of each place.
    operations: Vec<[u8; 2]>,
    sites: Vec<u32>,
    site_column: Vec<u8>,
    place_numbers: HashTable<u16>,
    /// The object that each place had last.
    last_objects: Vec<u64>,
    /// One more than the largest object, by table.
    needs: Sizes,
}

impl Encoder {
    pub fn new() -> std::io::Result<Encoder> {
        Ok(Encoder {
            columns: ColumnWriter::new()?,
            acts: Acts::default(),
            which: Halves::default(),
            payload: Vec::new(),
        })
    }

    /// The payload of a block with these events, which are all of one strand, and how many objects
    /// there must be for it.
    pub fn encode(&mut self, events: &[Event], runs: &Runs) -> (&[u8], &Sizes) {
        debug_assert!(events.len() <= MAX_BLOCK_EVENTS);
        self.acts.clear();
        self.which.clear();
        for &event in events {
            self.which.push(self.acts.number(event));
        }
        let Acts {
            events: acts,
            places,
            objects,
            operations,
            site_column,
            needs,
            ..
        } = &self.acts;
        let out = &mut self.payload;
        out.clear();
        put_number(acts.len() as u64, out);
        put_number(operations.len() as u64, out);
        let columns: [&[u8]; 9] = [
            &runs.lengths,
            &runs.gaps,
            &self.which.low,
            &self.which.high,
            &places.low,
            &places.high,
            objects,
            operations.as_flattened(),
            site_column,
        ];
        for column in columns {
            self.columns.put(column, out);
        }
        (out, needs)
    }
}

impl Acts {
    fn clear(&mut self) {
        self.events.clear();
        self.numbers.clear();
        self.places.clear();
        self.objects.clear();
        self.operations.clear();
        self.sites.clear();
        self.site_column.clear();
        self.place_numbers.clear();
        self.last_objects.clear();
        self.needs = Sizes::default();
    }

    /// The number of the act that an event is.
    #[inline]
    fn number(&mut self, event: Event) -> u16 {
        let hash = FxBuildHasher.hash_one(event);
        let same = |&number: &u16| self.events[number as usize] == event;
        if let Some(&number) = self.numbers.find(hash, same) {
            return number;
        }
        let number = self.events.len() as u16;
        self.events.push(event);
        let events = &self.events;
        let rehash = |&number: &u16| FxBuildHasher.hash_one(events[number as usize]);
        self.numbers.insert_unique(hash, number, rehash);
        self.describe(event);
        number
    }

    /// Adds a new act to the columns.
    fn describe(&mut self, event: Event) {
        let (code, detail, object) = event.to_parts();
        let place = self.place(code, detail, event.site().0);
        self.places.push(place);
        let last = &mut self.last_objects[place as usize];
        put_number(fold(object as i64 - *last as i64), &mut self.objects);
        *last = object;
        if let Takes::Named(table) = takes(code) {
            let need = &mut self.needs[table as usize];
            *need = (*need).max(object + 1);
        }
        for (table, number) in [
            (Table::Strands, event.strand().0),
            (Table::Sites, event.site().0),
        ] {
            let need = &mut self.needs[table as usize];
            *need = (*need).max(u64::from(number) + 1);
        }
    }

    fn place(&mut self, code: u8, detail: u8, site: u32) -> u16 {
        let hash_of = |operation: [u8; 2], site| FxBuildHasher.hash_one((operation, site));
        let (operations, sites) = (&mut self.operations, &mut self.sites);
        let operation = [code, detail];
        let hash = hash_of(operation, site);
        let same = |&number: &u16| {
            let number = number as usize;
            operations[number] == operation && sites[number] == site
        };
        if let Some(&number) = self.place_numbers.find(hash, same) {
            return number;
        }
        let number = operations.len() as u16;
        let last = sites.last().copied().unwrap_or(0);
        put_number(
            fold(i64::from(site) - i64::from(last)),
            &mut self.site_column,
        );
        operations.push(operation);
        sites.push(site);
        self.last_objects.push(0);
        let rehash = |&number: &u16| hash_of(operations[number as usize], sites[number as usize]);
        self.place_numbers.insert_unique(hash, number, rehash);
        number
    }
}

/// A block of events, decoded.
#[derive(Default)]
pub(super) struct EventBlock {
    pub events: Vec<Event>,
    pub runs: Runs,
}

impl EventBlock {
    /// A walk along the numbers of its events.
    pub fn cursor(head: &Head) -> RunCursor {
        RunCursor::new(head.first, head.end, head.count)
    }
}

/// Bytes to events.
pub(super) struct Decoder {
    decompressor: Decompressor<'static>,
    which: Halves,
    places: Halves,
    objects: Vec<u8>,
    operations: Vec<u8>,
    sites: Vec<u8>,
    /// The places of the block: what [`Event::from_parts`] wants, and the object had last.
    known: Vec<Place>,
    acts: Vec<Event>,
}

/// 16 bytes: there are thousands, and every act looks at one.
struct Place {
    last: u64,
    site: Site,
    code: u8,
    detail: u8,
    /// Where among the [`Limits`] stands how many objects there are for it.
    limit: u8,
}

const _: () = assert!(size_of::<Place>() == 16);

/// How many objects there are, by table; last, for what is in none.
type Limits = [u64; Table::ALL.len() + 1];

impl Decoder {
    pub fn new() -> std::io::Result<Decoder> {
        Ok(Decoder {
            decompressor: Decompressor::new()?,
            which: Halves::default(),
            places: Halves::default(),
            objects: Vec::new(),
            operations: Vec::new(),
            sites: Vec::new(),
            known: Vec::new(),
            acts: Vec::new(),
        })
    }

    /// Decodes a block into `block`, whose memory is used again. Objects must be within `sizes`.
    pub fn decode(
        &mut self,
        head: &Head,
        payload: &[u8],
        sizes: &Sizes,
        block: &mut EventBlock,
    ) -> Result<(), BlockProblem> {
        let count = head.count as usize;
        check_number(Table::Strands, head.whose.into(), sizes)?;
        let mut columns = ColumnReader::new(payload, &mut self.decompressor);
        let acts = columns.number("the number of acts", count as u64)?;
        let places = columns.number("the number of places", acts as u64)?;
        take_runs(&mut columns, count, &mut block.runs)?;
        self.which.take(&mut columns, "events", count)?;
        self.places.take(&mut columns, "places", acts)?;
        columns.take("objects", acts * MAX_NUMBER, &mut self.objects)?;
        columns.take("operations", places * 2, &mut self.operations)?;
        columns.take("sites", places * MAX_NUMBER, &mut self.sites)?;
        columns.finish()?;
        self.make_places(places, sizes)?;
        self.make_acts(Strand(head.whose), sizes)?;
        self.make_events(&mut block.events)
    }

    /// Decodes only which events are in a block.
    pub fn decode_runs(
        &mut self,
        head: &Head,
        payload: &[u8],
        runs: &mut Runs,
    ) -> Result<(), BlockProblem> {
        let count = head.count as usize;
        let mut columns = ColumnReader::new(payload, &mut self.decompressor);
        columns.number("the number of acts", count as u64)?;
        columns.number("the number of places", count as u64)?;
        take_runs(&mut columns, count, runs)
    }

    fn make_places(&mut self, count: usize, sizes: &Sizes) -> Result<(), BlockProblem> {
        const WRONG: BlockProblem = BlockProblem::Content("places");
        let operations = self.operations.as_chunks::<2>();
        if operations.0.len() != count || !operations.1.is_empty() {
            return Err(WRONG);
        }
        self.known.clear();
        let mut sites = &self.sites[..];
        let mut site = 0_i64;
        for &[code, detail] in operations.0 {
            let step = unfold(get_number_of_any_length(&mut sites).ok_or(WRONG)?);
            site = site.checked_add(step).ok_or(WRONG)?;
            let number = u64::try_from(site).map_err(|_| WRONG)?;
            check_number(Table::Sites, number, sizes)?;
            let object = 0;
            let site = u32::try_from(number).map_err(|_| WRONG)?;
            Event::from_parts(Strand::MAIN, (code, detail, object), Site(site)).ok_or(
                BlockProblem::Operation {
                    code,
                    detail,
                    object,
                },
            )?;
            self.known.push(Place {
                last: 0,
                site: Site(site),
                code,
                detail,
                limit: match takes(code) {
                    Takes::Named(table) => table as u8,
                    Takes::Number | Takes::Nothing => Table::ALL.len() as u8,
                },
            });
        }
        if sites.is_empty() { Ok(()) } else { Err(WRONG) }
    }

    fn make_events(&self, events: &mut Vec<Event>) -> Result<(), BlockProblem> {
        let (mut act, mut wrong) = (0_u16, false);
        let first = self.acts.first().ok_or(BlockProblem::Content("acts"))?;
        events.clear();
        // One that is not there is remembered, so that the loop need not stop.
        events.extend(
            self.which
                .low
                .iter()
                .zip(&self.which.high)
                .map(|(&low, &high)| {
                    act = act.wrapping_add(u16::from_le_bytes([low, high]));
                    *self.acts.get(act as usize).unwrap_or_else(|| {
                        wrong = true;
                        first
                    })
                }),
        );
        match wrong {
            true => Err(BlockProblem::Content("events")),
            false => Ok(()),
        }
    }

    fn make_acts(&mut self, strand: Strand, sizes: &Sizes) -> Result<(), BlockProblem> {
        const WRONG: BlockProblem = BlockProblem::Content("acts");
        let mut limits: Limits = [u64::MAX; Table::ALL.len() + 1];
        limits[..sizes.len()].copy_from_slice(sizes);
        let acts = &mut self.acts;
        acts.clear();
        acts.reserve(self.places.low.len());
        let mut objects = &self.objects[..];
        let mut place = 0_u16;
        for (&low, &high) in self.places.low.iter().zip(&self.places.high) {
            place = place.wrapping_add(u16::from_le_bytes([low, high]));
            let known = self.known.get_mut(place as usize).ok_or(WRONG)?;
            let step = unfold(get_number_of_any_length(&mut objects).ok_or(WRONG)?);
            let object = known.last.wrapping_add_signed(step);
            let (code, detail) = (known.code, known.detail);
            if object >= limits[known.limit as usize] {
                let table = Table::ALL.get(known.limit as usize).ok_or(WRONG)?;
                check_number(*table, object, sizes)?;
            }
            known.last = object;
            let event = Event::from_parts(strand, (code, detail, object), known.site);
            acts.push(event.ok_or(BlockProblem::Operation {
                code,
                detail,
                object,
            })?);
        }
        if objects.is_empty() {
            Ok(())
        } else {
            Err(WRONG)
        }
    }
}

fn take_runs(
    columns: &mut ColumnReader<'_>,
    count: usize,
    runs: &mut Runs,
) -> Result<(), BlockProblem> {
    columns.take("runs", count * MAX_NUMBER, &mut runs.lengths)?;
    columns.take("gaps", count * MAX_NUMBER, &mut runs.gaps)
}

fn check_number(table: Table, number: u64, sizes: &Sizes) -> Result<(), BlockProblem> {
    let known = sizes[table as usize];
    match number < known {
        true => Ok(()),
        false => Err(BlockProblem::Unnamed {
            table,
            number,
            known,
        }),
    }
}
