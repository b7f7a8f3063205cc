/** The messages that are being parsed or wait to be written, and how many more may be. */
import type { PendingKind } from '../../../../store/schema/words.ts'
import type { PendingMessage } from './pending.ts'

/** Of each kind. */
export const MAX_IN_PROGRESS = 128
/** Of one project: a share that leaves others some, and is worth a poll. */
export const MAX_IN_PROGRESS_OF_LINE = 96
const MAX_IN_PROGRESS_BYTES = 16 * 1024 * 1024

type Row = Pick<PendingMessage, 'id' | 'isSuspect' | 'pendingKind' | 'line' | 'sizeBytes'>

export type InProgress = {
  add(row: Row): void
  delete(row: Row): void
  has(id: string): boolean
  isEmpty(): boolean
  /** Whether few messages of the kind are in progress. */
  isLow(kind: PendingKind): boolean
  /** One that is not parsed alone; the first has place however large it is. */
  hasCapacityFor(row: Row): boolean
  /** Whether its line has fewer than its share. */
  hasShareFor(row: Row): boolean
}

/** Messages that are parsed alone count for `has` and `isEmpty` only. */
export function createInProgress(): InProgress {
  const ids = new Set<string>()
  const kinds = {
    reports: { count: 0, bytes: 0, lines: new Map<string, number>() },
    mail: { count: 0, bytes: 0, lines: new Map<string, number>() },
  } satisfies Record<PendingKind, object>

  function count({ isSuspect, pendingKind, line, sizeBytes }: Row, sign: 1 | -1): void {
    if (isSuspect) return
    const ofKind = kinds[pendingKind]
    const ofLine = (ofKind.lines.get(line) ?? 0) + sign
    if (ofLine === 0) ofKind.lines.delete(line)
    else ofKind.lines.set(line, ofLine)
    ofKind.count += sign
    ofKind.bytes += sign * sizeBytes
  }

  return {
    add(row) {
      ids.add(row.id)
      count(row, 1)
    },
    delete(row) {
      if (ids.delete(row.id)) count(row, -1)
    },
    has: (id) => ids.has(id),
    isEmpty: () => ids.size === 0,
    isLow: (kind) => kinds[kind].count <= MAX_IN_PROGRESS / 2,
    hasCapacityFor({ pendingKind, sizeBytes }) {
      const { count: others, bytes } = kinds[pendingKind]
      if (others === 0) return true
      return others < MAX_IN_PROGRESS && bytes + sizeBytes <= MAX_IN_PROGRESS_BYTES
    },
    hasShareFor: ({ pendingKind, line }) =>
      (kinds[pendingKind].lines.get(line) ?? 0) < MAX_IN_PROGRESS_OF_LINE,
  }
}
