/**
 * A process in which mail happens and is counted at once, until somebody kills it. The first argument is
 * the database; a line on stdout follows each commit that was heard of.
 */

import { silentLog } from '../../../src/base/log.ts'
import type { Config } from '../../../src/config/config.ts'
import { startLazyReader } from '../../../src/features/ground/events/readers.ts'
import { analyticsHandler } from '../../../src/features/insight/analytics/counting/follow-events.ts'
import { sql } from '../../../src/store/drizzle.ts'
import type { Store } from '../../../src/store/store.ts'
import { createLedger } from '../../features/insight/analytics/counting/ledger.ts'
import { openCountedProjects, PROJECTS } from './counted-projects.ts'

/** Contacts of every so many emails are deleted at once. */
const DELETED = 7

export async function openCounted(file: string): Promise<Store> {
  const store = await openCountedProjects(file)
  // The ledger, kept by triggers: what happened to emails, also to those that are deleted.
  await store.write(async (tx) => {
    await tx.run(sql`create table if not exists ledger (
      project_id text, accepted_at integer, sent integer, delivered integer, opened integer)`)
    await tx.run(sql`create trigger if not exists emails_leave before delete on emails begin
      insert into ledger values (old.project_id, old.created_at, old.sent_at is not null,
        old.delivered_at is not null, old.opened_at is not null); end`)
  })
  return store
}

export function countAnalytics(store: Store) {
  const config = { delivery: { mode: 'direct' } } as unknown as Config
  const deps = { store, log: silentLog(), now: Date.now }
  return startLazyReader(deps, [analyticsHandler({ ...deps, config })])
}

async function mailForever(store: Store, projectId: string): Promise<never> {
  const ledger = createLedger(store)
  for (let round = 0; ; round += 1) {
    const at = Date.now() - (round % 5) * 900_000
    const domain = round % 2 === 0 ? 'gmail.com' : 'firm.test'
    const id = await ledger.send({ projectId, at, domain, campaignId: `c${round % 3}` })
    await ledger.deliver(id, at)
    if (round % 3 === 0) await ledger.open(id, at)
    if (round % DELETED === 0) await ledger.deleteContact(id)
    process.stdout.write('committed\n')
  }
}

if (import.meta.main) {
  const store = await openCounted(process.argv[2] ?? '')
  countAnalytics(store)
  await Promise.all([...PROJECTS, ...PROJECTS].map((id) => mailForever(store, id)))
}
