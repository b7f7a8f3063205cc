/**
 * The receivers of a project's waiting mail, the worst first: which provider, how much waits, and whether the
 * systems behind it take mail now. What the sites allow is the server's state, as `queue sites` shows it; the
 * reply that caused it may be one to another project's mail, so replies are those to the project's own mail.
 */
import { formatInstant, formatOptionalInstant } from '../../../base/clock.ts'
import { displayDomain } from '../../../formats/address/address.ts'
import {
  MAX_RECEIVER_DOMAINS,
  MAX_RECEIVER_REPLY_LENGTH,
  MAX_RECEIVERS,
} from '../../../records/limits.ts'
import type { ReceiverRecord } from '../../../records/receiver.ts'
import type { Base } from '../../ground/base.ts'
import type { Lanes } from '../../mail/messages/queue/lanes.ts'
import { limitedUntil } from '../../mail/messages/queue/site-openness.ts'
import { receiverOfDomain } from './receiver-name.ts'
import { findReplies, type OwnReply } from './replies.ts'
import { listWaitingDomainsOf, type WaitingDomain } from './waiting-domains.ts'

export type ReceiverDeps = Pick<Base, 'store' | 'config' | 'outbound' | 'directory'> & {
  lanes: Pick<Lanes, 'ofProject'>
}

type ReceiverState = ReceiverRecord['state']

/** The waiting mail of a receiver. `affected`: the domains in its state, those with most mail first. */
type ReceiverMail = {
  name: string
  domains: readonly WaitingDomain[]
  state: ReceiverState
  affected: readonly WaitingDomain[]
}

/** Returns at most `MAX_RECEIVERS`: those with most mail that is not let through, then those with most mail. */
export async function listReceivers(
  deps: ReceiverDeps,
  projectId: string,
): Promise<ReceiverRecord[]> {
  const domains = await listWaitingDomainsOf(deps, projectId)
  const named = Map.groupBy(domains, ({ domain }) => receiverOfDomain(deps, domain))
  const receivers = [...named]
    .map(([name, some]) => toReceiverMail(name, some))
    .toSorted(byTrouble)
    .slice(0, MAX_RECEIVERS)
  const shown = receivers.map(({ affected }) => affected.slice(0, MAX_RECEIVER_DOMAINS))
  const replies = await findReplies(deps, projectId, shown.flat())
  return receivers.map((receiver, at) => toRecord(receiver, shown[at] ?? [], replies))
}

function toReceiverMail(name: string, domains: readonly WaitingDomain[]): ReceiverMail {
  const states = Map.groupBy(domains, ({ state }) => state)
  const troubled = [...states]
    .filter(([state]) => state !== 'open')
    .toSorted(([, one], [, other]) => waitingIn(other) - waitingIn(one))
  const [state, some] = troubled[0] ?? ['open', domains]
  return { name, domains, state, affected: some.toSorted(byWaiting) }
}

function byWaiting(one: WaitingDomain, other: WaitingDomain): number {
  return other.waiting - one.waiting || (one.domain < other.domain ? -1 : 1)
}

function byTrouble(one: ReceiverMail, other: ReceiverMail): number {
  return (
    troubleOf(other) - troubleOf(one) ||
    waitingIn(other.domains) - waitingIn(one.domains) ||
    (one.name < other.name ? -1 : 1)
  )
}

function troubleOf({ state, affected }: ReceiverMail): number {
  return state === 'open' ? 0 : waitingIn(affected)
}

function waitingIn(domains: readonly WaitingDomain[]): number {
  return domains.reduce((sum, { waiting }) => sum + waiting, 0)
}

function toRecord(
  { name, domains, state, affected }: ReceiverMail,
  shown: readonly WaitingDomain[],
  replies: ReadonlyMap<string, OwnReply>,
): ReceiverRecord {
  const due = domains.flatMap(({ oldestDueAt }) => oldestDueAt ?? [])
  const isLimited = state === 'slowed' || state === 'closed'
  const site = isLimited ? shown[0]?.site : undefined
  return {
    receiver: name,
    waiting: waitingIn(domains),
    deferred: domains.reduce((sum, { deferred }) => sum + deferred, 0),
    oldestDueAt: formatOptionalInstant(due.length === 0 ? null : Math.min(...due)),
    state,
    affected: state === 'open' ? 0 : waitingIn(affected),
    domains: state === 'open' ? [] : shown.map(({ domain }) => displayDomain(domain)),
    messagesPerMinute: site?.messagesPerMinute ?? null,
    until: formatOptionalInstant(site === undefined ? null : limitedUntil(site)),
    reply: newestReply(shown.flatMap(({ domain }) => replies.get(domain) ?? [])),
  }
}

function newestReply(replies: readonly OwnReply[]): ReceiverRecord['reply'] {
  const [newest] = replies.toSorted((one, other) => other.at - one.at)
  if (newest === undefined) return null
  const text = newest.text.slice(0, MAX_RECEIVER_REPLY_LENGTH).toWellFormed()
  return { ...newest, text, at: formatInstant(newest.at) }
}
