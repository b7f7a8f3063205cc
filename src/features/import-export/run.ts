/**
 * Runs an import job of either kind. One transaction writes a batch of rows and the counts of their
 * results. After a crash, the job reads the file from the start and skips the rows that are counted
 * already. It deletes the file after the last row, or when the file turns out to be unreadable.
 */
import { AppError } from '../../errors.ts'
import { withRest } from '../../jobs/pace.ts'
import { loadProgress, saveProgress } from '../../jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../jobs/run.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import type { ColumnType } from './csv/cell.ts'
import type { ColumnReading } from './csv/column-types.ts'
import { type Header, pickCell } from './csv/header.ts'
import type { CsvRecord } from './csv/parser.ts'
import { deleteImportFile, type ImportPayload } from './import-file.ts'
import { type FileRow, readRows } from './read-rows.ts'
import { type FileDamage, NO_DAMAGE, type ScanRules, scanFile } from './scan.ts'

export type RowError = {
  /** The first row below the header is 2; blank rows do not count. */
  row: number
  /** The line of the file where the row starts. */
  line: number
  /** The address cell, shortened. */
  email: string
  error: string
}

/** The results of the rows so far. */
export type Tally = {
  /** Rows below the header. */
  rows: number
  newCount: number
  knownCount: number
  /** Absent in the progress of an earlier version. */
  keptUnsubscribedCount?: number
  failureCount: number
  /** The first errors. */
  errors: RowError[]
  /** Warnings about the file as a whole, for people. */
  warnings: string[]
  /** How the columns of data are read. */
  columns: ColumnReading[]
  damage: FileDamage
}

/** `typeOf`: the type of the column of a field. */
type RowContext = { header: Header; options: ImportPayload; typeOf(field: string): ColumnType }

/** The work of an import kind on its rows. */
export type RowHandler<Entry> = ScanRules & {
  /** Parses a row. @throws AppError for an invalid row */
  read(record: CsvRecord, context: RowContext): Entry
  /** Writes the entries and returns their results; an entry with an error is not written. */
  apply(tx: Tx, entries: readonly Entry[]): Promise<RowResult[]>
}

type RowCounts = { isNew: boolean; isKeptUnsubscribed?: boolean }
type RowResult = RowCounts | AppError

type Deps = Pick<Base, 'store' | 'now'>
/** `isScanned`: whether columns, damage and warnings are those of the file. */
type ImportProgress = Tally & { isScanned?: boolean; isDone?: boolean; failure?: string }

const BATCH_ROWS = 2_000
/** The number of rows in a slice. A batch consists of whole slices. */
const SLICE_ROWS = 20
/** Duration of a batch without its commit; rows that do not fit go into the next batch. */
const BATCH_MS = 8
/** The pause after a batch, in multiples of its duration, so that emails can be accepted. */
const REST_TIMES = 0.25
/** 100 percent means that the job has its result. */
const MAX_PERCENT = 99
const MAX_ERRORS = 1000
const MAX_ADDRESS_CELL_LENGTH = 100
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

/** Runs the job. @throws FinalFailure for a file that cannot be read; other errors are retried */
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

async function finish({ store, now }: Deps, job: RunningJob, state: ImportProgress): Promise<void> {
  const { uploadId } = job.payload as ImportPayload
  await store.write(async (tx) => {
    await deleteImportFile(tx, uploadId)
    await saveProgress(tx, job, { state, at: now() })
  })
}

type Work<Entry> = { job: RunningJob; handler: RowHandler<Entry>; state: ImportProgress }

async function importRows<Entry>(deps: Deps, work: Work<Entry>): Promise<ImportProgress> {
  const { job, handler } = work
  const options = job.payload as ImportPayload
  let state = await scanOnce(deps, work)
  let bytesBefore = 0
  for await (const { header, rows, bytesRead } of readRows(deps, options)) {
    job.signal.throwIfAborted()
    const left = rows.filter(({ number }) => number > state.rows + 1)
    for (let at = 0; at < left.length; ) {
      const bytesDone = bytesBefore + ((bytesRead - bytesBefore) * at) / left.length
      const percent = Math.min(MAX_PERCENT, (100 * bytesDone) / options.sizeBytes)
      const batch = { rows: left.slice(at, at + BATCH_ROWS), header, percent }
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
  { job, handler, state }: Work<Entry>,
): Promise<ImportProgress> {
  if (state.isScanned) return state
  const payload = job.payload as ImportPayload
  const { hasTypes, isCut } = handler
  const projectId = job.projectId ?? ''
  const rules = { hasTypes, isCut, projectId, payload, signal: job.signal }
  return { ...state, ...(await scanFile(deps, rules)), isScanned: true }
}

type ImportBatch = { rows: readonly FileRow[]; header: Header; percent: number }

/** Writes as much of the batch as the time allows, and at least its first slice. */
function applyBatch<Entry>(
  { store, now }: Deps,
  { job, handler, state: before }: Work<Entry>,
  { rows, header, percent }: ImportBatch,
): Promise<ImportProgress> {
  const types = new Map(before.columns.map(({ field, type }) => [field, type]))
  const typeOf = (field: string) => types.get(field) ?? 'text'
  const context = { header, options: job.payload as ImportPayload, typeOf }
  const write = async (tx: Tx) => {
    const endsAt = performance.now() + BATCH_MS
    const state = { ...before, errors: [...before.errors] }
    for (let at = 0; at < rows.length; at += SLICE_ROWS) {
      const slice = rows.slice(at, at + SLICE_ROWS)
      const results = await applyRows(tx, { handler, context, rows: slice })
      for (const [row, result] of results) countRow(state, result, { header, row })
      if (performance.now() > endsAt) break
    }
    await saveProgress(tx, job, { state, percent, at: now() })
    return state
  }
  return store.write(write, { heavyFor: job.projectId ?? '' })
}

type CountedResult = RowCounts | { error: string }
type Slice<Entry> = { handler: RowHandler<Entry>; context: RowContext; rows: readonly FileRow[] }

async function applyRows<Entry>(tx: Tx, slice: Slice<Entry>): Promise<[FileRow, CountedResult][]> {
  const { handler, context, rows } = slice
  const read = rows.map((row) => readRow(handler, context, row))
  const entries = read.flatMap((each) => ('entry' in each ? [each.entry] : []))
  const applied = (await handler.apply(tx, entries)).values()
  return read.map((each, index) => {
    const result = 'entry' in each ? toCountedResult(applied.next().value) : each
    return [rows[index] as FileRow, result]
  })
}

function readRow<Entry>(
  handler: RowHandler<Entry>,
  context: RowContext,
  { record }: FileRow,
): { entry: Entry } | { error: string } {
  if (record.problem !== undefined) return { error: ROW_PROBLEMS[record.problem] }
  try {
    return { entry: handler.read(record, context) }
  } catch (error) {
    return { error: reasonOf(error) }
  }
}

function toCountedResult(applied: RowResult | undefined): CountedResult {
  if (applied === undefined) throw new TypeError('Every entry has a result.')
  return applied instanceof AppError ? { error: reasonOf(applied) } : applied
}

const ROW_PROBLEMS = {
  'too-long': 'The row is too long',
  unclosed: 'A quote in this row is never closed, so the rest of the file became its text',
}

function countRow(
  tally: Tally,
  result: CountedResult,
  { header, row }: { header: Header; row: FileRow },
): void {
  tally.rows += 1
  if ('isNew' in result) {
    if (result.isNew) tally.newCount += 1
    else tally.knownCount += 1
    if (result.isKeptUnsubscribed) {
      tally.keptUnsubscribedCount = (tally.keptUnsubscribedCount ?? 0) + 1
    }
    return
  }
  tally.failureCount += 1
  if (tally.errors.length >= MAX_ERRORS) return
  const cell = pickCell(row.record, header.columns.get('email'), header)
  tally.errors.push({
    row: row.number,
    line: row.record.line,
    email: (cell?.text ?? '').trim().slice(0, MAX_ADDRESS_CELL_LENGTH),
    error: result.error,
  })
}

/** Returns the fault of a row. @throws the error itself if the row did not cause it */
function reasonOf(error: unknown): string {
  if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error
  const [fault] = error.fields ?? []
  if (fault === undefined) return error.message
  return fault.field.startsWith('data.') ? `${fault.field}: ${fault.message}` : fault.message
}
