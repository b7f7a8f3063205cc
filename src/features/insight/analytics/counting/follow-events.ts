/**
 * The handler that counts mail, clicks and events for analytics, at most a second behind:
 *
 *   mail_counts   emails by the instant of their acceptance, so that no rate is over 100%
 *   link_counts   clicks, by the instant of the email's acceptance
 *   event_counts  events by their own instant
 *
 * A batch is added up in memory and written, with the cursor, in one transaction: so each event counts
 * once, also after a crash. What an event counts follows from the event and the facts of its email that
 * do not change any more (`changes.ts`). Nothing is taken back when an email, contact, campaign or event
 * is deleted. The first run over an existing database takes its time (`isAnalyticsComplete`).
 */
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { LazyHandler } from '../../../ground/event-handlers.ts'
import { isAnalyticsComplete } from '../complete.ts'
import { findHosts } from './find-hosts.ts'
import { findProjects } from './projects.ts'
import { providerOfDomain, providerOfHost } from './providers.ts'
import { createSubjects, type Subjects } from './subjects.ts'
import { addUp, type Countable, countableOf } from './sums.ts'
import { writeCounts } from './write-counts.ts'

type Deps = Pick<Base, 'now' | 'config'>

/** Far behind, it works for half of the time, so that commits of others are not delayed. */
const REST_TIMES = 1
/** The events of before this version can wait: it works for a ninth of the time. */
const BACKFILL_REST_TIMES = 8

export function analyticsHandler(deps: Deps): LazyHandler {
  const subjects = createSubjects()
  let isComplete = false
  return {
    name: 'analytics',
    restTimes: () => (isComplete ? REST_TIMES : BACKFILL_REST_TIMES),
    handle: async (tx, events) => {
      isComplete ||= await isAnalyticsComplete(tx)
      await countEvents(deps, { tx, subjects }, events)
    },
  }
}

async function countEvents(
  { config, now }: Pick<Deps, 'config' | 'now'>,
  { tx, subjects }: { tx: Tx; subjects: Subjects },
  events: readonly CountedEvent[],
): Promise<void> {
  const projects = await findProjects(tx, events)
  const counted: Countable[] = []
  for (const event of events) {
    const after = projects.get(event.projectId)?.countedAfter
    const countable = after !== undefined && event.seq > after ? countableOf(event) : undefined
    if (countable !== undefined) counted.push(countable)
  }
  const isRelay = config.delivery.mode === 'relay'
  const sums = addUp(counted, await createNaming(tx, { counted, isRelay }))
  await writeCounts({ tx, subjects, projects, at: now() }, sums)
}

/** Returns the function that names the provider of an event's email. */
async function createNaming(
  tx: Tx,
  { counted, isRelay }: { counted: readonly Countable[]; isRelay: boolean },
): Promise<(event: CountedEvent) => string> {
  const isUnknown = ({ recipientDomain }: CountedEvent) =>
    providerOfDomain(recipientDomain ?? '') === undefined
  const unknown = counted.filter(({ event, changes }) => changes.length > 0 && isUnknown(event))
  const hosts = await findHosts(
    tx,
    unknown.map(({ event }) => event),
  )
  return ({ emailId, recipientDomain, deliveredAt }) => {
    const ofDomain = providerOfDomain(recipientDomain ?? '')
    if (ofDomain !== undefined) return ofDomain
    // The smarthost's, unless the email was delivered before there was one.
    if (isRelay && deliveredAt === null) return providerOfHost(null)
    return providerOfHost(hosts.get(emailId ?? ''))
  }
}
