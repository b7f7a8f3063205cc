/**
 * Walks over the lines of pending mail. A walk begins where the one before ended, or with the line that it left
 * without a place, so that each of any number of lines has its turn.
 */
import type { PendingKind } from '../../../../store/schema/words.ts'
import { alternate } from '../../../../turns/alternate.ts'
import type { Base } from '../../../ground/base.ts'
import { type PendingMessage, selectPending } from './pending.ts'

export type LineWalks = {
  /**
   * Returns at most `limit` messages, and `ofLine` of a line, without those that are parsed alone. Lines
   * alternate, and each is in the order of arrival. Nothing is pending if there are none.
   */
  list(window: Window): Promise<readonly PendingMessage[]>
  /** There was no place for the message: its line is the next one, if it had none in the last list. */
  leave(message: PendingMessage): void
}

type Window = { kind: PendingKind; limit: number; ofLine: number }

/** Before every line. */
const FIRST_LINE = ''

export function createLineWalks({ store }: Pick<Base, 'store'>): LineWalks {
  /** Where the next walk begins, if not with the first line. */
  const next = new Map<PendingKind, string>()
  /** Of the last list: the first message of each line, until one of them was left. */
  const firsts = new Map<PendingKind, ReadonlySet<string>>()

  async function walk(window: Window & { from: string }): Promise<readonly PendingMessage[]> {
    const rows = await store.read.list(selectPending, window)
    const lastLine = rows[0]?.lastLine ?? null
    if (lastLine === null) next.delete(window.kind)
    else next.set(window.kind, lastLine)
    return rows
  }

  async function listRows(window: Window): Promise<readonly PendingMessage[]> {
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
