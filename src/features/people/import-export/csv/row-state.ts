/**
 * What a row says of the subscription. The first filled cell of `subscribed` decides alone; without one, a
 * sign in any other column that the person left unsubscribes, and counts as the person's wish.
 */
import { isBlank, readCellText } from './cell.ts'
import type { Header, StateColumn } from './header.ts'
import type { CsvRecord } from './parser.ts'
import { readStateText, type StateReading } from './state-columns.ts'

type SeenState = { column: StateColumn; text: string; reading: StateReading }

/**
 * `subscribed`: undefined if the row keeps the state of a contact. `hasLeft`, `getsMailElsewhere`: another
 * service says so.
 */
type RowState = { subscribed: boolean | undefined; hasLeft: boolean; getsMailElsewhere: boolean }

export function readState(record: CsvRecord, header: Header): RowState {
  let isLeft = header.isOfPeopleWhoLeft
  let isGood = false
  for (const { column, reading } of statesOf(record, header)) {
    if (column.kind === 'subscribed') {
      return { subscribed: reading === 'subscribed', hasLeft: false, getsMailElsewhere: false }
    }
    if (reading === 'unsubscribed') isLeft = true
    if (reading === 'unchanged') isGood = true
  }
  const getsMailElsewhere = isGood && !isLeft
  return { subscribed: isLeft ? false : undefined, hasLeft: isLeft, getsMailElsewhere }
}

/** Yields the cells that say something of the subscription, up to the one that decides alone. */
export function* statesOf({ cells }: CsvRecord, header: Header): Generator<SeenState> {
  for (const column of header.states) {
    const cell = cells[column.index]
    if (cell === undefined || isBlank(cell, header)) continue
    const text = readCellText(cell, header)
    yield { column, text, reading: readStateText(column.kind, text) }
    if (column.kind === 'subscribed') return
  }
}
