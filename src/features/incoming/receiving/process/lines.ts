/**
 * The lines of pending mail: walks over them, and the share of each line in the messages that are
 * being parsed or wait to be written. A walk begins where the one before ended, or with the line
 * that it left without a place, so that each of any number of lines has its turn.
 */
import type { PendingKind } from '../../../../store/schema/words.ts'
import { alternate } from '../../../../turns/alternate.ts'
import type { Base } from '../../../ground/base.ts'
import { type PendingMessage, selectPending } from './pending.ts'

/** The maximum of messages in progress, for each kind. */
export const MAX_IN_PROGRESS = 128
/** The maximum of one line: a share that leaves places for other lines, and is worth a poll. */
export const MAX_IN_PROGRESS_OF_LINE = 96
const MAX_IN_PROGRESS_BYTES = 16 * 1024 * 1024
/** Sorts before every line. */
const FIRST_LINE = ''

type LineWalks = {
  /**
   * Returns at most `limit` messages, and `ofLine` of a line, without those that are parsed alone.
   * Lines alternate, and each is in the order of arrival. If it returns no messages, none is
   * pending.
   */
  list(window: LineWindow): Promise<readonly PendingMessage[]>
  /**
   * Takes a message back for which there was no place. The next walk begins with its line, unless
   * another message of the line had a place.
   */
  leave(message: PendingMessage): void
}

type LineWindow = { kind: PendingKind; limit: number; ofLine: number }

export function createLineWalks({ store }: Pick<Base, 'store'>): LineWalks {
  /** Where the next walk begins, if not with the first line. */
  const next = new Map<PendingKind, string>()
  /** The first message of each line in the last list, until one of these messages was left. */
  const firsts = new Map<PendingKind, ReadonlySet<string>>()

  async function walk(window: LineWindow & { from: string }): Promise<readonly PendingMessage[]> {
    const rows = await store.read.list(selectPending, window)
    const lastLine = rows[0]?.lastLine ?? null
    if (lastLine === null) next.delete(window.kind)
    else next.set(window.kind, lastLine)
    return rows
  }

  async function listRows(window: LineWindow): Promise<readonly PendingMessage[]> {
    const from = next.get(window.kind) ?? FIRST_LINE
    const rows = await walk({ ...window, from })
    const limit = window.limit - rows.length
    if (from === FIRST_LINE || limit === 0 || next.has(window.kind)) return rows
    const others = await walk({ ...window, limit, from: FIRST_LINE })
    const ids = new Set(rows.map(({ id }) => id))
    return [...rows, ...others.filter(({ id }) => !ids.has(id))]
  }

  return {
    async list(window) {
      const rows = await listRows(window)
      const ofLines = new Map(rows.toReversed().map(({ line, id }) => [line, id]))
      firsts.set(window.kind, new Set(ofLines.values()))
      return alternate(rows, ({ line }) => line)
    },
    leave({ id, line, pendingKind }) {
      if (firsts.get(pendingKind)?.has(id) !== true) return
      next.set(pendingKind, line)
      firsts.delete(pendingKind)
    },
  }
}

type PendingRow = Pick<PendingMessage, 'id' | 'isSuspect' | 'pendingKind' | 'line' | 'sizeBytes'>

/** The messages that are being parsed or wait to be written, and the places that are left. */
type InProgress = {
  add(row: PendingRow): void
  delete(row: PendingRow): void
  has(id: string): boolean
  isEmpty(): boolean
  /** Whether few messages of the kind are in progress. */
  isLow(kind: PendingKind): boolean
  /** For a message that is not parsed alone. The first message fits at any size. */
  hasCapacityFor(row: PendingRow): boolean
  /** Whether the line of the message has fewer than its share. */
  hasShareFor(row: PendingRow): boolean
}

/** Messages that are parsed alone count for `has` and `isEmpty` only. */
export function createInProgress(): InProgress {
  const ids = new Set<string>()
  const kinds = {
    reports: { count: 0, bytes: 0, lines: new Map<string, number>() },
    mail: { count: 0, bytes: 0, lines: new Map<string, number>() },
  } satisfies Record<PendingKind, object>

  function count({ isSuspect, pendingKind, line, sizeBytes }: PendingRow, sign: 1 | -1): void {
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
