/**
 * Runs an import job of either kind. One transaction writes a batch of rows and the counts of their
 * results. After a crash, the job reads the file from the start and skips the rows that are counted
 * already. It deletes the file after the last row, or when the file turns out to be unreadable.
 *
 * A dry run reads all rows and counts what they would do, without a write; after a crash it begins again.
 */
import { AppError, isInvalid } from '../../../base/errors.ts'
import type { Reader } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { loadProgress, saveProgress } from '../../../work/jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../../work/jobs/run.ts'
import { withRest } from '../../../work/pace.ts'
import type { Base } from '../../ground/base.ts'
import type { ColumnType } from './csv/cell.ts'
import type { Header } from './csv/header.ts'
import { deleteImportFile, type ImportPayload } from './import-file.ts'
import { findLastUnsubscriptions, type LastUnsubscriptions } from './last-unsubscriptions.ts'
import { type FileRow, readRows } from './read-rows.ts'
import { NO_DAMAGE, type ScanRules, scanFile } from './scan.ts'
import { type CountedResult, countRow, type RowCounts, type Tally } from './tally.ts'

type RowContext = {
  header: Header
  options: ImportPayload
  /** Returns the type of the cells in the columns of a field. */
  typeOf(field: string): ColumnType
  /** The last row that unsubscribes each person; empty if the rows are no contacts. */
  lastUnsubscriptions: LastUnsubscriptions
}

/** How the rows of one kind of import are read, written and previewed. */
export type RowHandler<Entry> = ScanRules & {
  /** Parses a row. @throws AppError for an invalid row */
  read(row: FileRow, context: RowContext): Entry
  /**
   * Writes the entries and returns their results. An entry whose result is an error is not written; one whose
   * result has a `refusal` is written without its data.
   */
  apply(tx: Tx, entries: readonly Entry[]): Promise<RowResult[]>
  /**
   * Returns the results that `apply` would give after the entries of all earlier calls, without a
   * write.
   */
  preview(reader: Reader, entries: readonly Entry[]): Promise<RowResult[]>
}

export type RowResult = RowCounts | AppError

type Deps = Pick<Base, 'store' | 'now'>
/**
 * `isScanned`: whether the file was scanned, so that `columns`, `damage` and `warnings` are those
 * of the file. `fileRows`: its rows; absent in the progress that an earlier version stored.
 */
type ImportProgress = Tally & {
  fileRows?: number
  isScanned?: boolean
  isDone?: boolean
  failure?: string
}

const BATCH_ROWS = 2_000
/** The number of rows in a slice. A batch consists of whole slices. */
const SLICE_ROWS = 20
/**
 * The maximum duration of a batch without its commit; rows that do not fit go into the next batch.
 */
const BATCH_MS = 8
/** The pause after a batch, in multiples of its duration, so that emails can be accepted. */
const REST_TIMES = 0.25
/** The most that a running job shows, because 100 percent means that the job has its result. */
const MAX_PERCENT = 99
const INITIAL_STATE: ImportProgress = {
  rows: 0,
  newCount: 0,
  knownCount: 0,
  failureCount: 0,
  errors: [],
  warnings: [],
  columns: [],
  damage: NO_DAMAGE,
}

/**
 * Runs an import job. @throws FinalFailure for a file that cannot be read; other errors are retried
 */
export async function runImport<Entry>(
  deps: Deps,
  job: RunningJob,
  handler: RowHandler<Entry>,
): Promise<Tally> {
  const state = (await loadProgress<ImportProgress>(deps.store.read, job.id)) ?? INITIAL_STATE
  if (state.failure !== undefined) throw new FinalFailure(state.failure)
  if (state.isDone) return state
  try {
    const end = await importRows(deps, { job, handler, state })
    await finish(deps, job, { ...end, isDone: true })
    return end
  } catch (error) {
    if (error instanceof FinalFailure) {
      await finish(deps, job, { ...state, failure: error.message })
    }
    throw error
  }
}

/** Returns the counts of a job that is cancelled, by what it saved last; undefined: nothing. */
export function tallyOf(saved: unknown): Tally {
  return (saved as ImportProgress | undefined) ?? INITIAL_STATE
}

async function finish({ store, now }: Deps, job: RunningJob, state: ImportProgress): Promise<void> {
  const { uploadId } = job.payload as ImportPayload
  await store.write(async (tx) => {
    await deleteImportFile(tx, uploadId)
    const count = { done: state.rows, total: state.fileRows ?? state.rows }
    await saveProgress(tx, job, { state, count, at: now() })
  })
}

type ImportWork<Entry> = { job: RunningJob; handler: RowHandler<Entry>; state: ImportProgress }

async function importRows<Entry>(deps: Deps, work: ImportWork<Entry>): Promise<ImportProgress> {
  const { job, handler } = work
  const options = job.payload as ImportPayload
  let state = await scanOnce(deps, work)
  const file = { payload: options, signal: job.signal }
  const lastUnsubscriptions = handler.areContacts
    ? await findLastUnsubscriptions(deps, file)
    : new Map<string, number>()
  let bytesBefore = 0
  for await (const { header, rows, bytesRead } of readRows(deps, options)) {
    job.signal.throwIfAborted()
    const left = rows.filter(({ number }) => number > state.rows + 1)
    for (let at = 0; at < left.length; ) {
      job.signal.throwIfAborted()
      const bytesDone = bytesBefore + ((bytesRead - bytesBefore) * at) / left.length
      const percent = Math.min(MAX_PERCENT, (100 * bytesDone) / options.sizeBytes)
      const batchRows = left.slice(at, at + BATCH_ROWS)
      const batch = { rows: batchRows, header, percent, lastUnsubscriptions }
      const before = state.rows
      const work = { job, handler, state }
      const rest = { times: REST_TIMES, signal: job.signal }
      state = await withRest(() => applyBatch(deps, work, batch), rest)
      at += state.rows - before
    }
    bytesBefore = bytesRead
  }
  return state
}

async function scanOnce<Entry>(
  deps: Deps,
  { job, handler, state }: ImportWork<Entry>,
): Promise<ImportProgress> {
  if (state.isScanned) return state
  const payload = job.payload as ImportPayload
  const { areContacts, isCut } = handler
  const projectId = job.projectId ?? ''
  const rules = { areContacts, isCut, projectId, payload, signal: job.signal }
  return { ...state, ...(await scanFile(deps, rules)), isScanned: true }
}

type ImportBatch = Pick<RowContext, 'header' | 'lastUnsubscriptions'> & {
  rows: readonly FileRow[]
  percent: number
}

/** Writes as much of the batch as the time allows, and at least its first slice. */
function applyBatch<Entry>(
  { store, now }: Deps,
  { job, handler, state }: ImportWork<Entry>,
  { rows, percent, ...known }: ImportBatch,
): Promise<ImportProgress> {
  const types = new Map(state.columns.map(({ field, type }) => [field, type]))
  const typeOf = (field: string) => types.get(field) ?? 'text'
  const options = job.payload as ImportPayload
  const slice = { handler, context: { ...known, options, typeOf } }
  if (options.dryRun === true) {
    return countSlices({ ...slice, rows, state }, (entries) => handler.preview(store.read, entries))
  }
  const write = async (tx: Tx) => {
    const work = { ...slice, rows, state }
    const next = await countSlices(work, (entries) => handler.apply(tx, entries))
    const count = { done: next.rows, total: next.fileRows ?? null }
    await saveProgress(tx, job, { state: next, percent, count, at: now() })
    return next
  }
  return store.write(write, { heavyFor: job.projectId ?? '' })
}

type RowSlice<Entry> = { handler: RowHandler<Entry>; context: RowContext; rows: readonly FileRow[] }
type Apply<Entry> = (entries: readonly Entry[]) => Promise<RowResult[]>

async function countSlices<Entry>(
  { rows, state: before, ...work }: RowSlice<Entry> & { state: ImportProgress },
  apply: Apply<Entry>,
): Promise<ImportProgress> {
  const endsAt = performance.now() + BATCH_MS
  const state = { ...before, errors: [...before.errors] }
  for (let at = 0; at < rows.length; at += SLICE_ROWS) {
    const slice = { ...work, rows: rows.slice(at, at + SLICE_ROWS) }
    const { header } = work.context
    for (const [row, result] of await applyRows(slice, apply)) {
      countRow(state, result, { header, row })
    }
    if (performance.now() > endsAt) break
  }
  return state
}

async function applyRows<Entry>(
  { handler, context, rows }: RowSlice<Entry>,
  apply: Apply<Entry>,
): Promise<[FileRow, CountedResult][]> {
  const read = rows.map((row) => readRow(handler, context, row))
  const entries = read.flatMap((each) => ('entry' in each ? [each.entry] : []))
  const applied = (await apply(entries)).values()
  return read.map((each, index) => {
    const result = 'entry' in each ? toCountedResult(applied.next().value) : each
    return [rows[index] as FileRow, result]
  })
}

function readRow<Entry>(
  handler: RowHandler<Entry>,
  context: RowContext,
  row: FileRow,
): { entry: Entry } | { error: string } {
  const { problem } = row.record
  if (problem !== undefined) return { error: ROW_PROBLEMS[problem] }
  try {
    return { entry: handler.read(row, context) }
  } catch (error) {
    return { error: reasonOf(error) }
  }
}

function toCountedResult(applied: RowResult | undefined): CountedResult {
  if (applied === undefined) throw new TypeError('Every entry has a result.')
  if (applied instanceof AppError) return { error: reasonOf(applied) }
  const { refusal, becomes } = applied
  if (refusal === undefined) return applied
  const error = `${reasonOf(refusal)}. The data is not stored, but the person is unsubscribed.`
  return { error, becomes }
}

const ROW_PROBLEMS = {
  'too-long': 'The row is too long',
  unclosed: 'A quote in this row is never closed, so the rest of the file became its text',
}

/** Returns the fault of a row. @throws the error itself if the row did not cause it */
function reasonOf(error: unknown): string {
  if (!isInvalid(error)) throw error
  const [fault] = error.fields ?? []
  if (fault === undefined) return error.message
  return fault.field.startsWith('data.') ? `${fault.field}: ${fault.message}` : fault.message
}
