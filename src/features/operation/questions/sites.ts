/** Answers questions about the sites that the server delivers to. */
import type { SiteStatus } from '../../../outbound/sites/site-status.ts'
import type { Base } from '../../ground/base.ts'
import { countWaiting } from '../../mail/messages/queue/bring-forward.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import type { AnswerOf, QuestionOf } from './questions.ts'

type Deps = Pick<Base, 'store' | 'outbound'> & { queueNotifier: QueueNotifier }

const MAX_SITES = 1_000

export function listSites({ outbound }: Pick<Deps, 'outbound'>): AnswerOf<'sites'> {
  const sites = outbound.sites().sort(byProblem)
  return { sites: sites.slice(0, MAX_SITES), left: Math.max(0, sites.length - MAX_SITES) }
}

/** Sites with problems first, the longest first; then the busiest. */
function byProblem(one: SiteStatus, other: SiteStatus): number {
  const since = ({ restrictedSince }: SiteStatus) => restrictedSince ?? Number.MAX_SAFE_INTEGER
  return (
    since(one) - since(other) || other.inFlight - one.inFlight || (one.site < other.site ? -1 : 1)
  )
}

export async function liftSite(
  { store, outbound, queueNotifier }: Deps,
  given: QuestionOf<'lift'>,
): Promise<AnswerOf<'lift'>> {
  const known = new Set(outbound.sites().map(({ site }) => site))
  const site = known.has(given.site) ? given.site : outbound.siteOf(given.site)
  const domains = given.domains.filter((domain) => outbound.siteOf(domain) === site)
  // Counted before the lift, after which these emails leave the queue.
  const waiting = await countWaiting({ store }, domains)
  const isLifted = outbound.liftSite(site)
  // Wakes the queue for all lanes, because it has a time for the next visit of each lane.
  if (isLifted) queueNotifier.notify('anywhere')
  return { site, isKnown: known.has(site), isLifted, domains, waiting }
}
