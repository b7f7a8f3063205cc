/**
 * Remembers when keys and sessions were last used. Requests only note it in memory; once a minute the
 * notes are written, many by one statement for each kind. A crash loses a minute of them.
 */
import { MINUTE_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { Statement } from '../../../../store/database.ts'
import { eachOf, jsonItem } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { runEvery } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import type { Caller } from './caller.ts'

export type LastUsed = {
  note(caller: Caller): void
  /** Writes the notes to the database. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type CredentialKind = 'secret' | 'public' | 'session'
type Note = { kind: CredentialKind; id: string; at: number }

/**
 * The statements that write many notes, one for each kind of caller. `uses`: a list of [id,
 * instant].
 */
const WRITE: Readonly<Record<CredentialKind, Statement<unknown>>> = {
  secret: writeOf('projects', 'secret_last_used_at'),
  public: writeOf('projects', 'public_last_used_at'),
  session: writeOf('sessions', 'last_used_at'),
}

/** The most notes of a minute; further ones are dropped. No server has that many users. */
const MAX_NOTES = 100_000
/** The most notes of a transaction: they take a few milliseconds, as a light write may. */
const NOTES_OF_WRITE = 250

export function createLastUsed({ store, now, log }: Pick<Base, 'store' | 'now' | 'log'>): LastUsed {
  let notes = new Map<string, Note>()
  const loop = runEvery(MINUTE_MS, flush)

  function note(caller: Caller): void {
    const kind = caller.kind === 'key' ? caller.key : 'session'
    const id = caller.kind === 'key' ? caller.project.id : caller.session.id
    const name = `${kind} ${id}`
    if (notes.size < MAX_NOTES || notes.has(name)) notes.set(name, { kind, id, at: now() })
  }

  async function flush(): Promise<void> {
    const written = [...notes.values()]
    notes = new Map()
    try {
      for (let from = 0; from < written.length; from += NOTES_OF_WRITE) {
        const some = written.slice(from, from + NOTES_OF_WRITE)
        await store.write((tx) => writeNotes(tx, some))
      }
    } catch (error) {
      log.warn({ error: describeError(error) }, 'the last use of keys was not written')
    }
  }

  return {
    note,
    flush,
    async stop() {
      await loop.stop()
      await flush()
    },
  }
}

async function writeNotes(tx: Tx, notes: readonly Note[]): Promise<void> {
  for (const [kind, group] of Map.groupBy(notes, ({ kind }) => kind)) {
    const uses = JSON.stringify(group.map(({ id, at }) => [id, at]))
    await tx.execute(WRITE[kind], { uses })
  }
}

function writeOf(table: string, column: string): Statement<unknown> {
  const use = (index: number) => jsonItem(sql`used.value`, index)
  return statement(
    () => sql`update ${sql.raw(table)} set ${sql.raw(column)} = ${use(1)}
      from ${eachOf(parameter('uses'))} as used where ${sql.raw(table)}.id = ${use(0)}`,
  )
}
