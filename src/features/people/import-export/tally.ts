/** Counts the results of the rows of an import. */
import type { AppError, FieldWarning } from '../../../base/errors.ts'
import type { ColumnReading, FileDamage, RowError, StateWord } from '../../../records/import.ts'
import { type Header, pickCell } from './csv/header.ts'
import type { FileRow } from './read-rows.ts'

/** The results of the rows so far. */
export type Tally = {
  /** Rows below the header. */
  rows: number
  newCount: number
  knownCount: number
  /**
   * Rows whose contact stays unsubscribed, although the row would subscribe it or another service
   * sends the person mail. This count, like the next four, is absent in the progress that an
   * earlier version stored.
   */
  keptUnsubscribedCount?: number
  /** Rows of contacts that stay subscribed, although new contacts are unsubscribed by default. */
  keptSubscribedCount?: number
  /** Rows of unsubscribed contacts that say nothing about the subscription. */
  stillUnsubscribedCount?: number
  /**
   * Rows that subscribed a contact or created a subscribed one; `unsubscribedCount` is its
   * counterpart.
   */
  subscribedCount?: number
  unsubscribedCount?: number
  failureCount: number
  /** The first errors. */
  errors: RowError[]
  /** Warnings about the file as a whole, for people. */
  warnings: string[]
  /** How the columns of data are read. */
  columns: ColumnReading[]
  damage: FileDamage
  /** Absent, like `stateWords`, in the progress that an earlier version stored. */
  unknownFields?: FieldWarning[]
  /** The words that say who gets mail. */
  stateWords?: StateWord[]
}

export type RowCounts = {
  isNew: boolean
  isKeptUnsubscribed?: boolean
  staysSubscribed?: boolean
  staysUnsubscribed?: boolean
  /**
   * The new value of `subscribed`, if the row created the contact or changed the value; otherwise
   * undefined.
   */
  becomes?: boolean | undefined
  /** Why the data of a row that unsubscribes was left out. Such a row counts as failed. */
  refusal?: AppError
}

export type CountedResult = RowCounts | ({ error: string } & Pick<RowCounts, 'becomes'>)

const MAX_ROW_ERRORS = 1000
const MAX_ADDRESS_CELL_LENGTH = 100

/** Adds the result of a row. */
export function countRow(
  tally: Tally,
  result: CountedResult,
  { header, row }: { header: Header; row: FileRow },
): void {
  tally.rows += 1
  if ('isNew' in result) {
    countResult(tally, result)
    return
  }
  tally.failureCount += 1
  countState(tally, result)
  if (tally.errors.length >= MAX_ROW_ERRORS) return
  const cell = pickCell(row.record, header.columns.get('email'), header)
  tally.errors.push({
    row: row.number,
    line: row.record.line,
    email: (cell?.text ?? '').trim().slice(0, MAX_ADDRESS_CELL_LENGTH),
    error: result.error,
  })
}

function countResult(tally: Tally, { isNew, ...kept }: RowCounts): void {
  if (isNew) tally.newCount += 1
  else tally.knownCount += 1
  const { isKeptUnsubscribed, staysSubscribed, staysUnsubscribed } = kept
  if (isKeptUnsubscribed) tally.keptUnsubscribedCount = (tally.keptUnsubscribedCount ?? 0) + 1
  if (staysSubscribed) tally.keptSubscribedCount = (tally.keptSubscribedCount ?? 0) + 1
  if (staysUnsubscribed) tally.stillUnsubscribedCount = (tally.stillUnsubscribedCount ?? 0) + 1
  countState(tally, kept)
}

function countState(tally: Tally, { becomes }: Pick<RowCounts, 'becomes'>): void {
  if (becomes === true) tally.subscribedCount = (tally.subscribedCount ?? 0) + 1
  if (becomes === false) tally.unsubscribedCount = (tally.unsubscribedCount ?? 0) + 1
}
