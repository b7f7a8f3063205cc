/**
 * Adds up a batch of events in memory. Events with the same keys are summed before anything else is done
 * with them, because most events of a batch are of one mailing.
 */
import type { CountedEvent } from '../../../store/schema/analytics.ts'
import type { AnalyticsStream } from '../../../store/schema/words.ts'
import { QUARTER_MS, startOf } from '../buckets.ts'
import { type Change, changesOf, METRICS, type Metric } from './metrics.ts'

export type MailCounts = Record<Metric, number>

/** `startsAt`: the quarter of an hour. */
type Place<Stream> = { projectId: string; stream: Stream; startsAt: number }
export type MailSum = Place<AnalyticsStream> & {
  provider: string
  campaignId: string | null
  templateId: string | null
  workflowId: string | null
  counts: MailCounts
}
export type LinkSum = Place<AnalyticsStream> & { url: string; clicks: number; firstClicks: number }
export type EventSum = Place<AnalyticsStream | ''> & { name: string; events: number }
export type Sums = {
  mail: Iterable<MailSum>
  links: Iterable<LinkSum>
  events: Iterable<EventSum>
}

/** An event with what it counts as. `mail`: undefined if it is not about mail that counts. */
export type Countable = {
  event: CountedEvent
  mail: { stream: AnalyticsStream; startsAt: number; changes: readonly Change[] } | undefined
}

/** Undefined for mail of the server to its users and for tests of campaigns, which count nothing. */
export function countableOf(event: CountedEvent): Countable | undefined {
  const { acceptedAt, sourceType } = event
  if (event.isPlatform || event.isTest) return undefined
  // What was received is no mailing, and of a deleted email nothing is known.
  if (acceptedAt === null || sourceType === null || sourceType === 'INBOUND') {
    return { event, mail: undefined }
  }
  const startsAt = startOf(QUARTER_MS, acceptedAt)
  return { event, mail: { stream: sourceType, startsAt, changes: changesOf(event) } }
}

/** `providerOf`: of the events that change counts of mail. */
export function addUp(
  events: readonly Countable[],
  providerOf: (event: CountedEvent) => string,
): Sums {
  const mail = new Map<string, MailSum>()
  const links = new Map<string, LinkSum>()
  const byName = new Map<string, EventSum>()
  for (const countable of events) {
    addEvent(byName, countable)
    addMail(mail, countable, providerOf)
    if (countable.event.name === 'email.click') addClick(links, countable)
  }
  return { mail: mail.values(), links: links.values(), events: byName.values() }
}

function addEvent(sums: Map<string, EventSum>, { event, mail }: Countable): void {
  const { projectId, name, createdAt } = event
  const startsAt = startOf(QUARTER_MS, createdAt)
  const stream = mail?.stream ?? ''
  const key = `${projectId} ${stream} ${startsAt} ${name}`
  const sum = sums.get(key)
  if (sum === undefined) sums.set(key, { projectId, stream, startsAt, name, events: 1 })
  else sum.events += 1
}

function addMail(
  sums: Map<string, MailSum>,
  { event, mail }: Countable,
  providerOf: (event: CountedEvent) => string,
): void {
  if (mail === undefined || mail.changes.length === 0) return
  const { projectId, campaignId, templateId, workflowId } = event
  const { stream, startsAt, changes } = mail
  const provider = providerOf(event)
  const key = `${projectId} ${stream} ${startsAt} ${campaignId} ${templateId} ${workflowId} ${provider}`
  let sum = sums.get(key)
  if (sum === undefined) {
    const ids = { campaignId, templateId, workflowId }
    sum = { projectId, stream, startsAt, provider, ...ids, counts: noCounts() }
    sums.set(key, sum)
  }
  for (const { metric, by } of changes) sum.counts[metric] += by
}

function addClick(sums: Map<string, LinkSum>, { event, mail }: Countable): void {
  const { projectId, detail: url, isFirst } = event
  if (mail === undefined || url === null) return
  const { stream, startsAt } = mail
  const key = `${projectId} ${stream} ${startsAt} ${url}`
  const sum = sums.get(key) ?? { projectId, stream, startsAt, url, clicks: 0, firstClicks: 0 }
  sum.clicks += 1
  if (isFirst) sum.firstClicks += 1
  sums.set(key, sum)
}

function noCounts(): MailCounts {
  return Object.fromEntries(METRICS.map((metric) => [metric, 0])) as MailCounts
}
