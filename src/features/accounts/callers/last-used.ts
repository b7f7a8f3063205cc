/**
 * Remembers when keys and sessions were last used. Requests only note it in memory; once a minute the
 * notes are written in one transaction. A crash loses a minute of them.
 */
import { MINUTE_MS } from '../../../clock.ts'
import { describeError } from '../../../errors.ts'
import { eq } from '../../../store/drizzle.ts'
import { projects, sessions } from '../../../store/schema/accounts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import type { Caller } from './caller.ts'

export type LastUsed = {
  note(caller: Caller): void
  /** Writes what was noted. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Kind = 'secret' | 'public' | 'session'

/** The notes of a minute. Beyond it they are dropped: nobody has that many users. */
const MAX_NOTES = 100_000

export function createLastUsed({ store, now, log }: Pick<Base, 'store' | 'now' | 'log'>): LastUsed {
  let notes = new Map<string, { kind: Kind; id: string; at: number }>()
  const timer = setInterval(flush, MINUTE_MS).unref()

  function note(caller: Caller): void {
    const kind = caller.kind === 'key' ? caller.key : 'session'
    const id = caller.kind === 'key' ? caller.project.id : caller.session.id
    const name = `${kind} ${id}`
    if (notes.size < MAX_NOTES || notes.has(name)) notes.set(name, { kind, id, at: now() })
  }

  async function flush(): Promise<void> {
    const written = [...notes.values()]
    notes = new Map()
    if (written.length === 0) return
    try {
      await store.write(async (tx) => {
        for (const { kind, id, at } of written) await writeNote(tx, kind, { id, at })
      })
    } catch (error) {
      log.warn({ error: describeError(error) }, 'the last use of keys was not written')
    }
  }

  return {
    note,
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}

async function writeNote(tx: Tx, kind: Kind, { id, at }: { id: string; at: number }) {
  if (kind === 'session') {
    await tx.update(sessions).set({ lastUsedAt: at }).where(eq(sessions.id, id))
    return
  }
  const column = kind === 'secret' ? { secretLastUsedAt: at } : { publicLastUsedAt: at }
  await tx.update(projects).set(column).where(eq(projects.id, id))
}
