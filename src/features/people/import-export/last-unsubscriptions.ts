/**
 * Finds the people whom the rows of a file unsubscribe, each with the last such row. A file that
 * was put together from several may have two rows for a person who left, of which only one says so.
 * Then no row subscribes the person by a default, and no earlier row by a word such as `yes`. A
 * word in a later row subscribes the person; but if a row recorded a wish (`hasLeft`), only with
 * `resubscribe`, as for any other person with a wish.
 *
 * Each run of the import reads the whole file for this before its first row, also a run that
 * resumes.
 */
import { setImmediate } from 'node:timers/promises'
import type { Base } from '../../ground/base.ts'
import { findRowAddress } from './csv/row-address.ts'
import { readState } from './csv/row-state.ts'
import type { ImportPayload } from './import-file.ts'
import { readRows } from './read-rows.ts'

/** The number of the last row that unsubscribes, by address. The memory grows with the file, which has at most 5 MB. */
export type LastUnsubscriptions = ReadonlyMap<string, number>

/** The number of rows that are looked at before other work runs. */
const ROWS_AT_ONCE = 1_000

/** @throws FinalFailure for a file without a usable header; the signal's reason when it aborts */
export async function findLastUnsubscriptions(
  deps: Pick<Base, 'store'>,
  { payload, signal }: { payload: ImportPayload; signal: AbortSignal },
): Promise<LastUnsubscriptions> {
  const last = new Map<string, number>()
  for await (const { header, rows } of readRows(deps, payload)) {
    signal.throwIfAborted()
    if (header.states.length === 0 && !header.isOfPeopleWhoLeft) break
    for (const [at, { number, record }] of rows.entries()) {
      if (at > 0 && at % ROWS_AT_ONCE === 0) await setImmediate()
      if (record.problem !== undefined || readState(record, header).subscribed !== false) continue
      const address = findRowAddress(record, header)?.address
      if (address !== undefined) last.set(address, number)
    }
  }
  return last
}

type ImportedRow = { address: string; number: number; subscribed: boolean | undefined }

/** Whether a row must not subscribe its contact, because another row unsubscribes the person. */
export function isWithheld(
  last: LastUnsubscriptions,
  { address, number, subscribed }: ImportedRow,
): boolean {
  const lastNumber = last.get(address)
  if (lastNumber === undefined || subscribed === false) return false
  return subscribed === undefined || number < lastNumber
}
