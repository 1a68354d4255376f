//! A fit to shards that are read one by one: more samples than memory holds.
//!
//! ```text
//! leading samples of some shards ──> template
//!            every shard ──> read ──> sums ──> merged, dropped     (checkpoints)
//!                                               └──> model
//! ```
//!
//! The sums of a network hold the coefficients of all samples. They grow, so a checkpoint holds those of one shard.

use crate::reading::Reading;
use crate::shards::{self, Failure, ShardFlags, Shards, Skipped};
use crate::training::{Checkpoints, Training};
use c2cnet::accumulate::{AccumulationReport, Accumulator, Template};
use c2cnet::data::Dataset;
use c2cnet::observe::Observer;
use c2cnet::report::Choice;
use c2cnet::storage::Archive;
use c2cnet::{C2CNet, Error, FitConfig, Plan, Result};
use c2cnet_experiments::terminal::{Progress, counted};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::{Duration, Instant};

/// The most samples that determine the template: bases and kernels hardly change with more.
const MOST_FIRST: usize = 5000;

/// They are taken from this many shards, evenly spaced: shards may be sorted by what they hold.
const FIRST_SHARDS: usize = 16;

/// Fraction of the memory that the values of a shard may need; they are copied on the way.
const SHARD_PART: f64 = 0.2;

/// About how many square matrices of first samples exist at the same time.
const FIRST_SQUARES: f64 = 6.0;

/// About how many copies of their values exist at the same time.
const FIRST_COPIES: f64 = 4.0;

/// The fraction of the memory that the matrices and copies of first samples may use.
const FIRST_PART: f64 = 0.5;

/// The number of square matrices of centres that exist at the same time, and the fraction of memory that they may use.
const CENTRE_SQUARES: f64 = 6.0;
const CENTRE_PART: f64 = 0.5;

/// About how many copies of the coefficients of all samples exist while a network is trained on them.
const NETWORK_COPIES: f64 = 6.0;

/// The name of the checkpoint.
const MARK: &str = "stream";

/// What to fit to which shards.
pub struct Stream<'a> {
    pub shards: &'a Shards,
    pub reading: Reading,
    pub flags: ShardFlags,
    pub config: &'a FitConfig,
    pub plan: Option<&'a Plan>,
    /// Bytes that may be used.
    pub memory: f64,
    pub centres: usize,
    pub checkpoints: &'a Checkpoints,
    pub checkpoint_every: Duration,
    pub resume: bool,
}

/// The result of the fit.
pub struct Fitted {
    pub model: C2CNet,
    pub report: AccumulationReport,
    pub choices: Vec<Choice>,
    pub skipped: Skipped,
    pub pace: Pace,
}

/// How fast shards were read, encoded and summed by this process; first samples are not counted.
pub struct Pace {
    pub samples: usize,
    pub bytes: u64,
    pub seconds: f64,
    /// Seconds of those for reading alone.
    pub reading: f64,
}

/// All that is needed to continue.
#[derive(Serialize, Deserialize)]
struct State<T, S> {
    mark: String,
    /// Identifies the fit.
    of: String,
    template: T,
    sums: S,
    /// How many leading training samples of each shard determined the template.
    taken: Vec<usize>,
    /// How many shards are summed.
    done: usize,
    skipped: Vec<String>,
}

type Begun = State<Template, Accumulator>;

/// What one shard adds for a network, as a checkpoint of its own.
#[derive(Serialize, Deserialize)]
struct Part {
    mark: String,
    /// Why there is nothing, if the shard was skipped.
    skipped: Option<String>,
    sums: Option<Accumulator>,
}

fn mark_of_part(shard: usize) -> String {
    format!("{MARK}-{shard:06}")
}

impl Stream<'_> {
    /// # Errors
    /// If a shard cannot be used, unless bad ones are skipped; if there is too little memory; if interrupted.
    pub fn fit(&self, training: &Training) -> Result<Fitted> {
        let progress = training.progress();
        self.check_centres()?;
        let mut state = match self.checkpoint(progress)? {
            Some(state) => state,
            None => self.begin(progress)?,
        };
        let (skipped, pace) = self.sum(&mut state, progress)?;
        progress.step(format!(
            "solving for {}",
            counted(state.sums.samples(), "sample")
        ));
        let (model, report) = state.template.finish(&state.sums, training)?;
        Ok(Fitted {
            model,
            report,
            choices: state.template.choices(),
            skipped,
            pace,
        })
    }

    /// Adds the shards that are not summed yet.
    fn sum(&self, state: &mut Begun, progress: &Progress) -> Result<(Skipped, Pace)> {
        let mut pace = Pace {
            samples: 0,
            bytes: 0,
            seconds: 0.0,
            reading: 0.0,
        };
        let mut skipped = Skipped::of(std::mem::take(&mut state.skipped));
        let clock = Instant::now();
        let mut written = Instant::now();
        let files = self.shards.files();
        let mut bytes: u64 = files[..state.done].iter().map(|(_, size)| size).sum();
        while state.done < files.len() {
            let (path, size) = &files[state.done];
            progress.amount(&self.words(state, &pace, clock), bytes, self.shards.bytes());
            let sums = match self.sums(state, &mut pace) {
                Ok(sums) => {
                    pace.samples += sums.samples();
                    state.sums.merge(&sums)?;
                    Some(sums)
                }
                Err(e) => {
                    skipped.keep(shards::about(path, e), self.flags)?;
                    None
                }
            };
            if state.template.kept_per_sample() > 0 {
                self.write_part(state.done, sums, &skipped, progress);
            }
            state.done += 1;
            bytes += size;
            pace.bytes += size;
            self.check_kept(state, bytes)?;
            let cancelled = Observer::cancelled(progress);
            if cancelled || written.elapsed() >= self.checkpoint_every {
                self.write(state, &skipped, progress);
                written = Instant::now();
            }
            if cancelled {
                return Err(Error::Interrupted);
            }
        }
        pace.seconds = clock.elapsed().as_secs_f64();
        Ok((skipped, pace))
    }

    /// Whether the memory is enough for the coefficients of all samples, judged by `bytes` of the shards.
    fn check_kept(&self, state: &Begun, bytes: u64) -> Result<()> {
        let numbers = state.template.kept_per_sample();
        let part = bytes as f64 / self.shards.bytes().max(1) as f64;
        // The sums hold first samples of later shards, too.
        let later: usize = state.taken[state.done..].iter().sum();
        let samples = state.sums.samples().saturating_sub(later) as f64;
        let samples = (samples / part.min(1.0)).round();
        let needed = NETWORK_COPIES * 8.0 * numbers as f64 * samples;
        if needed <= self.memory {
            return Ok(());
        }
        // They are of no use with another --memory, which may choose other bases.
        self.checkpoints.clear()?;
        Err(Error::Config(format!(
            "--memory {}: a network trained on about {samples} samples of {numbers} coefficients needs about {}; give as \
             much, or fewer shards, or fit a kernel map",
            shards::shown_bytes(self.memory),
            shards::shown_bytes(needed)
        )))
    }

    /// The sums of the next shard.
    fn sums(&self, state: &Begun, pace: &mut Pace) -> std::result::Result<Accumulator, Failure> {
        let clock = Instant::now();
        let data = self.read(state.done)?;
        pace.reading += clock.elapsed().as_secs_f64();
        let taken = state.taken[state.done];
        Ok(state.template.accumulate_after(taken, &data)?)
    }

    fn read(&self, shard: usize) -> std::result::Result<Dataset, Failure> {
        let path = &self.shards.files()[shard].0;
        shards::read(path, self.reading, SHARD_PART * self.memory)
    }

    fn words(&self, state: &Begun, pace: &Pace, clock: Instant) -> String {
        let seconds = clock.elapsed().as_secs_f64();
        let rate = match pace.samples > 0 {
            true => format!(", {:.0} per second", pace.samples as f64 / seconds),
            false => String::new(),
        };
        format!(
            "shard {} of {}: {} summed{rate}",
            state.done + 1,
            self.shards.len(),
            counted(state.sums.samples(), "sample")
        )
    }

    /// Determines the template from leading samples of some shards.
    fn begin(&self, progress: &Progress) -> Result<Begun> {
        progress.step("reading the first samples");
        let count = self.shards.len();
        let mut skipped = Skipped::default();
        let mut taken = vec![0; count];
        let mut first: Option<Dataset> = None;
        let parts = FIRST_SHARDS.min(count);
        let mut wanted = MOST_FIRST;
        for part in 0..parts {
            let shard = part * count / parts;
            let added = self.read(shard).and_then(|data| {
                if part == 0 {
                    wanted = self.most_first(&data)?;
                }
                let train = data.train_indices();
                let take = wanted.div_ceil(parts).min(train.len());
                match take {
                    0 => return Err(Error::Data("it has no training samples".into()).into()),
                    _ => add(&mut first, data.select(&train[..take]))?,
                }
                Ok(take)
            });
            match added {
                Ok(take) => taken[shard] = take,
                // Named again, and kept for the end, when its turn comes.
                Err(e) => {
                    let path = &self.shards.files()[shard].0;
                    skipped.keep(shards::about(path, e), self.flags)?;
                }
            }
            if Observer::cancelled(progress) {
                return Err(Error::Interrupted);
            }
        }
        let first = first.ok_or_else(|| {
            Error::Data(format!(
                "none of the first shards can be used: {}",
                skipped.list().join("; ")
            ))
        })?;
        let (template, sums) = match self.plan {
            Some(plan) => Template::fit_plan(&first, plan, self.centres, progress)?,
            None => Template::fit(&first, self.config, self.centres, progress)?,
        };
        let state = State {
            mark: MARK.into(),
            of: self.identity(),
            template,
            sums,
            taken,
            done: 0,
            skipped: Vec::new(),
        };
        // Parts of another fit would be taken for those of this one.
        self.checkpoints.clear()?;
        self.write_state(&state, &Skipped::default(), progress);
        Ok(state)
    }

    /// How many samples like those of `data` fit in memory to determine the template.
    fn most_first(&self, data: &Dataset) -> std::result::Result<usize, Failure> {
        let fields = data.inputs.iter().chain(&data.outputs);
        let values: usize = fields.map(|(_, field)| field.values_of(0).len()).sum();
        let bytes = |n: f64| 8.0 * (FIRST_COPIES * n * values as f64 + FIRST_SQUARES * n * n);
        let most = (1..=MOST_FIRST / 100).rev().map(|k| 100 * k);
        let mut affordable = most.filter(|&n| bytes(n as f64) <= FIRST_PART * self.memory);
        affordable.next().ok_or_else(|| {
            Failure::Memory(format!(
                "--memory {}: too little to choose bases on 100 samples of {values} values; give at least {}",
                shards::shown_bytes(self.memory),
                shards::shown_bytes(bytes(100.0) / FIRST_PART)
            ))
        })
    }

    fn check_centres(&self) -> Result<()> {
        match self.centres <= affordable_centres(self.memory) {
            true => Ok(()),
            false => Err(Error::Config(format!(
                "--centres {}: --memory {} is enough for {}; give fewer centres or more memory",
                self.centres,
                shards::shown_bytes(self.memory),
                affordable_centres(self.memory)
            ))),
        }
    }

    /// What identifies this fit: the shards and all that was asked for.
    fn identity(&self) -> String {
        let all = json!({
            "shards": self.shards.files(),
            "config": self.config,
            "plan": self.plan,
            "memory": self.memory,
            "centres": self.centres,
        });
        all.to_string()
    }

    /// The checkpoint to continue from, if that was asked for and one of this fit exists.
    fn checkpoint(&self, progress: &Progress) -> Result<Option<Begun>> {
        let folder = self.checkpoints.folder().display();
        if !self.resume {
            if self.checkpoints.exist() {
                progress.note(format!(
                    "{folder} holds checkpoints of a fit that did not finish; this one starts over and replaces them \
                     (--resume continues from them)"
                ));
            }
            return Ok(None);
        }
        let Some(archive) = self.checkpoints.read(MARK)? else {
            progress.note(format!(
                "there is no checkpoint of shards in {folder}; the fit starts from the beginning"
            ));
            return Ok(None);
        };
        let mut state: Begun = archive.restore("checkpoint")?;
        if state.of != self.identity() || state.taken.len() != self.shards.len() {
            progress.note(format!(
                "the checkpoint in {folder} belongs to other shards or settings; the fit starts over"
            ));
            return Ok(None);
        }
        if state.template.kept_per_sample() > 0 {
            self.read_parts(&mut state)?;
        }
        progress.note(format!(
            "resuming: {} of {} shards done",
            state.done,
            self.shards.len()
        ));
        Ok(Some(state))
    }

    /// Writes a checkpoint, unless every shard has its own.
    fn write(&self, state: &Begun, skipped: &Skipped, progress: &Progress) {
        if state.template.kept_per_sample() == 0 {
            self.write_state(state, skipped, progress);
        }
    }

    fn write_state(&self, state: &Begun, skipped: &Skipped, progress: &Progress) {
        let state = State {
            mark: state.mark.clone(),
            of: state.of.clone(),
            template: &state.template,
            sums: &state.sums,
            taken: state.taken.clone(),
            done: state.done,
            skipped: skipped.list().to_vec(),
        };
        self.write_checkpoint(MARK, &state, progress);
    }

    fn write_part(
        &self,
        shard: usize,
        sums: Option<Accumulator>,
        skipped: &Skipped,
        progress: &Progress,
    ) {
        let part = Part {
            mark: mark_of_part(shard),
            skipped: skipped.list().last().filter(|_| sums.is_none()).cloned(),
            sums,
        };
        self.write_checkpoint(&part.mark, &part, progress);
    }

    /// A checkpoint that cannot be written does not end the fit.
    fn write_checkpoint(&self, mark: &str, state: &impl Serialize, progress: &Progress) {
        let written = Archive::of(state).and_then(|archive| self.checkpoints.write(mark, &archive));
        if let Err(e) = written {
            progress.note(format!("no checkpoint: {e}"));
        }
    }

    /// Adds the shards that have checkpoints of their own.
    fn read_parts(&self, state: &mut Begun) -> Result<()> {
        while state.done < self.shards.len() {
            let Some(archive) = self.checkpoints.read(&mark_of_part(state.done))? else {
                break;
            };
            let part: Part = archive.restore("checkpoint")?;
            if let Some(sums) = &part.sums {
                state.sums.merge(sums)?;
            }
            state.skipped.extend(part.skipped);
            state.done += 1;
        }
        Ok(())
    }
}

/// How many centres of a kernel map this memory is enough for.
pub fn affordable_centres(memory: f64) -> usize {
    (CENTRE_PART * memory / (8.0 * CENTRE_SQUARES)).sqrt() as usize
}

fn add(first: &mut Option<Dataset>, more: Dataset) -> Result<()> {
    match first {
        Some(first) => first.append(more),
        None => {
            *first = Some(more);
            Ok(())
        }
    }
}
