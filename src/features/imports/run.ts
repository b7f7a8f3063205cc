/**
 * The work of an import job, whatever its rows become. A batch of rows and the count of what became
 * of them are one transaction: after a crash the file is read from its beginning, and everything up
 * to the last row that was counted is passed over. The file goes with the last row, or when it
 * turns out that there is no reading it.
 */
import { AppError } from '../../errors.ts'
import { withRest } from '../../jobs/pace.ts'
import { loadProgress, saveProgress } from '../../jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../jobs/run.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { type Header, pick } from './csv/header.ts'
import type { CsvRecord } from './csv/parser.ts'
import { deleteImportFile, type ImportPayload } from './import-file.ts'
import { type FileRow, readRows } from './read-rows.ts'

export type RowError = {
  /** The first row under the header is 2; empty rows are not counted. */
  row: number
  /** Of the file. */
  line: number
  /** As it stood there, shortened. */
  email: string
  error: string
}

/** What became of the rows so far. */
export type Tally = {
  /** Rows under the header. */
  rows: number
  newCount: number
  knownCount: number
  failureCount: number
  /** The first of them. */
  errors: RowError[]
  /** Of the file as a whole, for people. */
  warnings: string[]
}

export type RowContext = { header: Header; options: ImportPayload }

/** What rows become. */
export type RowHandler<Entry> = {
  /** @throws AppError for a row that is wrong in itself */
  read(record: CsvRecord, sheet: RowContext): Entry
  /** What became of each: an error for one of which nothing was written. */
  apply(tx: Tx, entries: readonly Entry[]): Promise<Applied[]>
}

export type Applied = { isNew: boolean } | AppError

type Deps = Pick<Base, 'store' | 'now'>
type State = Tally & { isDone?: boolean; failure?: string }

const BATCH_ROWS = 2_000
/** So many of them at a time: between two the batch may end. */
const SLICE_ROWS = 20
/** How long a batch takes, without its commit; what does not fit goes into the next. */
const BATCH_MS = 8
/** Between two batches, of the time that the first took: sends have their turn. */
const REST_TIMES = 0.25
/** 100 is for the result. */
const MAX_PERCENT = 99
const MAX_ERRORS = 1000
const MAX_EMAIL_LENGTH = 100
const nothing: State = {
  rows: 0,
  newCount: 0,
  knownCount: 0,
  failureCount: 0,
  errors: [],
  warnings: [],
}

/** @throws FinalFailure for a file that cannot be read; what else fails is worth another try */
export async function runImport<Entry>(
  deps: Deps,
  job: RunningJob,
  target: RowHandler<Entry>,
): Promise<Tally> {
  const state = (await loadProgress<State>(deps.store.read, job.id)) ?? nothing
  if (state.failure !== undefined) throw new FinalFailure(state.failure)
  if (state.isDone) return state
  try {
    const end = await importRows(deps, { job, target, state })
    await finish(deps, job, { ...end, isDone: true })
    return end
  } catch (error) {
    if (error instanceof FinalFailure) {
      await finish(deps, job, { ...state, failure: error.message })
    }
    throw error
  }
}

async function finish({ store, now }: Deps, job: RunningJob, state: State): Promise<void> {
  const { uploadId } = job.payload as ImportPayload
  await store.write(async (tx) => {
    await deleteImportFile(tx, uploadId)
    await saveProgress(tx, job, { state, at: now() })
  })
}

type Work<Entry> = { job: RunningJob; target: RowHandler<Entry>; state: State }

async function importRows<Entry>(deps: Deps, work: Work<Entry>): Promise<State> {
  const { job, target } = work
  const options = job.payload as ImportPayload
  let { state } = work
  let bytesBefore = 0
  for await (const { header, rows, bytesRead } of readRows(deps, options)) {
    job.signal.throwIfAborted()
    state = { ...state, warnings: header.warnings }
    const left = rows.filter(({ number }) => number > state.rows + 1)
    for (let at = 0; at < left.length; ) {
      const bytesDone = bytesBefore + ((bytesRead - bytesBefore) * at) / left.length
      const percent = Math.min(MAX_PERCENT, (100 * bytesDone) / options.sizeBytes)
      const batch = { rows: left.slice(at, at + BATCH_ROWS), header, percent }
      const before = state.rows
      const work = { job, target, state }
      const rest = { times: REST_TIMES, signal: job.signal }
      state = await withRest(() => applyBatch(deps, work, batch), rest)
      at += state.rows - before
    }
    bytesBefore = bytesRead
  }
  return state
}

type Batch = { rows: readonly FileRow[]; header: Header; percent: number }

/** As much of the batch as there is time for, and at least its first slice. */
function applyBatch<Entry>(
  { store, now }: Deps,
  { job, target, state: before }: Work<Entry>,
  { rows, header, percent }: Batch,
): Promise<State> {
  const sheet = { header, options: job.payload as ImportPayload }
  const write = async (tx: Tx) => {
    const endsAt = performance.now() + BATCH_MS
    const state = { ...before, errors: [...before.errors] }
    for (let at = 0; at < rows.length; at += SLICE_ROWS) {
      const slice = rows.slice(at, at + SLICE_ROWS)
      const outcomes = await applyRows(tx, { target, sheet, rows: slice })
      for (const [row, outcome] of outcomes) countRow(state, outcome, { header, row })
      if (performance.now() > endsAt) break
    }
    await saveProgress(tx, job, { state, percent, at: now() })
    return state
  }
  return store.write(write, { heavyFor: job.projectId ?? '' })
}

type Outcome = { isNew: boolean } | { error: string }
type Slice<Entry> = { target: RowHandler<Entry>; sheet: RowContext; rows: readonly FileRow[] }

async function applyRows<Entry>(tx: Tx, slice: Slice<Entry>): Promise<[FileRow, Outcome][]> {
  const { target, sheet, rows } = slice
  const read = rows.map((row) => readRow(target, sheet, row))
  const entries = read.flatMap((each) => ('entry' in each ? [each.entry] : []))
  const applied = (await target.apply(tx, entries)).values()
  return read.map((each, index) => {
    const outcome = 'entry' in each ? toOutcome(applied.next().value) : each
    return [rows[index] as FileRow, outcome]
  })
}

function readRow<Entry>(
  target: RowHandler<Entry>,
  sheet: RowContext,
  { record }: FileRow,
): { entry: Entry } | { error: string } {
  if (record.problem !== undefined) return { error: problems[record.problem] }
  try {
    return { entry: target.read(record, sheet) }
  } catch (error) {
    return { error: reasonOf(error) }
  }
}

function toOutcome(applied: Applied | undefined): Outcome {
  if (applied === undefined) throw new TypeError('Every entry has an outcome.')
  return applied instanceof AppError ? { error: reasonOf(applied) } : applied
}

const problems = {
  'too-long': 'The row is too long',
  unclosed: 'A quote in this row is never closed: everything behind it was taken for its text',
}

function countRow(
  tally: Tally,
  outcome: Outcome,
  { header, row }: { header: Header; row: FileRow },
): void {
  tally.rows += 1
  if ('isNew' in outcome) {
    if (outcome.isNew) tally.newCount += 1
    else tally.knownCount += 1
    return
  }
  tally.failureCount += 1
  if (tally.errors.length >= MAX_ERRORS) return
  const cell = pick(row.record, header.columns.get('email'), header)
  tally.errors.push({
    row: row.number,
    line: row.record.line,
    email: (cell?.text ?? '').trim().slice(0, MAX_EMAIL_LENGTH),
    error: outcome.error,
  })
}

/** What is wrong with a row. @throws the error when it is not the row's fault */
function reasonOf(error: unknown): string {
  if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error
  const [fault] = error.fields ?? []
  if (fault === undefined) return error.message
  return fault.field.startsWith('data.') ? `${fault.field}: ${fault.message}` : fault.message
}
