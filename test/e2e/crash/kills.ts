/**
 * What a kill excuses: an email may arrive once more after a kill if the database of the killed server
 * does not have its end. Its final dot, or the result, was under way.
 */
import assert from 'node:assert/strict'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import type { Sink } from '../../fakes/smtp-sink.ts'
import { eventually } from '../program.ts'
import type { Installation } from '../server.ts'

/** `ended`: ids of emails. `arrivals`: how many messages had arrived. */
export type Kill = { ended: ReadonlySet<string>; arrivals: number }

/** Call this for a server that was killed, before the next one starts. */
export async function noteKill(
  { folder }: Pick<Installation, 'folder'>,
  { sink, arrivals }: { sink: Sink; arrivals: readonly unknown[] },
): Promise<Kill> {
  // What the server sent before it died still comes in.
  await eventually(() => (sink.openCount() === 0 ? true : undefined))
  return { ended: await listEnded(path.join(folder, 'data')), arrivals: arrivals.length }
}

/** Returns the ids of the emails that arrived more than once. @throws AssertionError where no kill excuses it */
export function assertExcused(
  arrivals: readonly { id: string }[],
  kills: readonly Kill[],
): Set<string> {
  const last = new Map<string, number>()
  const repeated = new Set<string>()
  for (const [at, { id }] of arrivals.entries()) {
    const before = last.get(id)
    last.set(id, at)
    if (before === undefined) continue
    repeated.add(id)
    const isExcused = kills.some(
      (kill) => before < kill.arrivals && kill.arrivals <= at && !kill.ended.has(id),
    )
    assert.ok(isExcused, `${id} arrived twice, and its end was recorded, or nothing was killed`)
  }
  return repeated
}

/** Reads a copy: a database that was opened would be another one for the next start. */
async function listEnded(data: string): Promise<Set<string>> {
  const copy = await mkdtemp(path.join(tmpdir(), 'pillarbox-killed-'))
  for (const name of ['pillarbox.db', 'pillarbox.db-wal']) {
    await cp(path.join(data, name), path.join(copy, name))
  }
  const database = new Database(path.join(copy, 'pillarbox.db'))
  const ended = database
    .prepare(
      `select id from emails where state in ('delivered', 'relayed', 'bounced', 'failed', 'suppressed')`,
    )
    .pluck()
    .all()
  database.close()
  await rm(copy, { recursive: true })
  return new Set(ended as string[])
}
