/**
 * A process that sends events of emails and counts them at once, until somebody kills it. The first
 * argument is the database; a line on stdout follows each commit that was heard of.
 */

import { silentLog } from '../../../src/base/log.ts'
import { appendEvents, type NewEvent } from '../../../src/features/ground/events/append.ts'
import { startLazyReader } from '../../../src/features/ground/events/readers.ts'
import { reputationHandler } from '../../../src/features/insight/reputation/follow-events.ts'
import { newId } from '../../../src/store/ids.ts'
import type { Store } from '../../../src/store/store.ts'
import { openCountedProjects, PROJECTS } from './counted-projects.ts'

const HOUR_MS = 3_600_000
/** Nothing is disabled. */
const config = { security: { autoDisable: false } }

export function countReputation(store: Store) {
  const never = { warning: 0, critical: 0 }
  const windows = { day: never, week: never, all: never }
  const kinds = { bounce: windows, complaint: windows }
  const security = {
    ...config.security,
    minEmails: 100,
    percent: kinds,
    counts: kinds,
    youngCounts: kinds,
  }
  const deps = { store, log: silentLog(), now: Date.now, config: { security }, directory: {} }
  const handler = reputationHandler(deps as unknown as Parameters<typeof reputationHandler>[0])
  return startLazyReader(deps, [handler])
}

async function appendForever(store: Store, projectId: string): Promise<never> {
  for (let round = 0; ; round += 1) {
    const at = Date.now() - (round % 3) * HOUR_MS
    const event = { projectId, contactId: null, emailId: newId(), at }
    const sent: NewEvent = { ...event, name: 'email.sent', data: null }
    const bounce: NewEvent = { ...event, name: 'email.bounce', data: { bounceType: 'Permanent' } }
    const complaint: NewEvent = { ...event, name: 'email.complaint', data: null }
    const happened = [
      sent,
      ...(round % 2 === 0 ? [bounce] : []),
      ...(round % 5 === 0 ? [complaint] : []),
    ]
    await store.write((tx) => appendEvents(tx, happened))
    process.stdout.write('committed\n')
  }
}

if (import.meta.main) {
  const store = await openCountedProjects(process.argv[2] ?? '')
  countReputation(store)
  await Promise.all([...PROJECTS, ...PROJECTS].map((id) => appendForever(store, id)))
}
