/**
 * Adds up a batch of events in memory. Events with equal keys are summed first, because most events
 * of a batch belong to one mailing.
 *
 * An event changes the counts of its email. `email.sent` counts the email as sent, and so does a
 * refusal in the session, because the server did its part. A bounce after the delivery takes the
 * delivery back.
 */
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import type { AnalyticsStream } from '../../../../store/schema/words.ts'
import { COUNTED_OTHERWISE } from '../../../people/contacts/write/set-subscribed.ts'
import { QUARTER_MS } from '../buckets.ts'
import { type MailCount, type MailCounts, NO_MAIL } from '../mail-counts.ts'

/** `startsAt`: the beginning of the quarter of an hour. */
type BucketPlace<Stream> = { projectId: string; stream: Stream; startsAt: number }

export type MailSum = BucketPlace<AnalyticsStream> & {
  provider: string
  campaignId: string | null
  templateId: string | null
  workflowId: string | null
  counts: MailCounts
}

type LinkSum = BucketPlace<AnalyticsStream> & { url: string; clicks: number; firstClicks: number }

type EventSum = BucketPlace<AnalyticsStream | ''> & { name: string; events: number }

export type Sums = {
  mail: Iterable<MailSum>
  links: Iterable<LinkSum>
  events: Iterable<EventSum>
}

/**
 * An event with the counts that it changes. `stream`: '' if the event concerns no mail that counts.
 * `startsAt`: the quarter in which the email was accepted. `changes`: the changes to the counts of
 * mail.
 */
export type Countable = {
  event: CountedEvent
  stream: AnalyticsStream | ''
  startsAt: number
  changes: readonly CountChange[]
}

type ProviderOf = (event: CountedEvent) => string

type CountChange = { metric: MailCount; by: 1 | -1 }

const NO_CHANGES: readonly CountChange[] = []

const SENT = one('sent')

const DELIVERED = one('delivered')

const OPENED = one('opened')

const CLICKED = one('clicked')

const BOTH = one('openedAndClicked')

const COMPLAINED = one('complained')

const UNSUBSCRIBED = one('unsubscribed')

const UNDELIVERED: readonly CountChange[] = [{ metric: 'delivered', by: -1 }]

/**
 * Type of bounce -> the change that it makes. A transient bounce is only a delay and changes
 * nothing.
 */
const BOUNCED: Readonly<Record<string, readonly CountChange[]>> = {
  Permanent: one('hardBounced'),
  Undetermined: one('softBounced'),
}

/** Returns the beginning of the bucket that contains an instant. */
export function startOf(span: number, at: number): number {
  return at - (at % span)
}

/**
 * Returns undefined for an event that counts nothing: of mail from the server to its users, or of a
 * campaign's test.
 */
export function countableOf(event: CountedEvent): Countable | undefined {
  const { acceptedAt, sourceType } = event
  if (event.isPlatform || event.isTest) return undefined
  // Received mail belongs to no mailing, and about a deleted email nothing is known.
  if (acceptedAt === null || sourceType === null || sourceType === 'INBOUND') {
    return { event, stream: '', startsAt: 0, changes: [] }
  }
  const startsAt = startOf(QUARTER_MS, acceptedAt)
  return { event, stream: sourceType, startsAt, changes: changesOf(event) }
}

/** `providerOf`: names the provider of the email of an event that changes counts of mail. */
export function addUp(events: readonly Countable[], providerOf: ProviderOf): Sums {
  const byName = new Map<string, EventSum>()
  const mail = createMailSums(providerOf)
  const links = new Map<string, LinkSum>()
  for (const countable of events) {
    addEvent(byName, countable)
    mail.add(countable)
    if (countable.event.name === 'email.click') addClick(links, countable)
  }
  return { mail: mail.all(), links: links.values(), events: byName.values() }
}

function addEvent(sums: Map<string, EventSum>, { event, stream }: Countable): void {
  const { projectId, name, createdAt } = event
  const startsAt = startOf(QUARTER_MS, createdAt)
  const key = `${projectId} ${stream} ${startsAt} ${name}`
  const sum = sums.get(key)
  if (sum === undefined) sums.set(key, { projectId, stream, startsAt, name, events: 1 })
  else sum.events += 1
}

function createMailSums(providerOf: ProviderOf) {
  const sums = new Map<string, MailSum>()
  let last: MailSum | undefined

  function find(place: Omit<MailSum, 'counts'>): MailSum {
    // Most events belong to the same mailing as the event before, so this comparison saves the key.
    if (last !== undefined && isSame(last, place)) return last
    const { projectId, stream, startsAt, campaignId, templateId, workflowId, provider } = place
    const key = `${projectId} ${stream} ${startsAt} ${campaignId} ${templateId} ${workflowId} ${provider}`
    last = sums.get(key) ?? { ...place, counts: { ...NO_MAIL } }
    sums.set(key, last)
    return last
  }

  return {
    add({ event, stream, startsAt, changes }: Countable): void {
      if (stream === '' || changes.length === 0) return
      const { projectId, campaignId, templateId, workflowId } = event
      const about = { provider: providerOf(event), campaignId, templateId, workflowId }
      const { counts } = find({ projectId, stream, startsAt, ...about })
      for (const { metric, by } of changes) counts[metric] += by
    },
    all: () => sums.values(),
  }
}

function isSame(one: MailSum, other: Omit<MailSum, 'counts'>): boolean {
  return (
    one.startsAt === other.startsAt &&
    one.stream === other.stream &&
    one.provider === other.provider &&
    one.campaignId === other.campaignId &&
    one.templateId === other.templateId &&
    one.workflowId === other.workflowId &&
    one.projectId === other.projectId
  )
}

function addClick(sums: Map<string, LinkSum>, { event, stream, startsAt }: Countable): void {
  const { projectId, detail: url, isFirst } = event
  if (stream === '' || url === null) return
  const key = `${projectId} ${stream} ${startsAt} ${url}`
  const sum = sums.get(key) ?? { projectId, stream, startsAt, url, clicks: 0, firstClicks: 0 }
  sum.clicks += 1
  if (isFirst) sum.firstClicks += 1
  sums.set(key, sum)
}

/** Returns the changes that an event makes to the counts of its email. */
function changesOf(event: CountedEvent): readonly CountChange[] {
  switch (event.name) {
    case 'email.sent':
      return SENT
    case 'email.delivery':
      return DELIVERED
    case 'email.bounce':
      return changesOfBounce(event)
    case 'email.open':
      return changesOfOpen(event)
    case 'email.click':
      return changesOfClick(event)
    case 'email.complaint':
      return COMPLAINED
    case 'contact.unsubscribed':
      return event.isFirst && !COUNTED_OTHERWISE.has(event.detail) ? UNSUBSCRIBED : NO_CHANGES
    default:
      return NO_CHANGES
  }
}

function changesOfBounce({ detail, sentAt, deliveredAt }: CountedEvent): readonly CountChange[] {
  const bounced = BOUNCED[detail ?? '']
  if (bounced === undefined) return NO_CHANGES
  return [
    ...bounced,
    ...(sentAt === null ? SENT : NO_CHANGES),
    ...(deliveredAt === null ? NO_CHANGES : UNDELIVERED),
  ]
}

/**
 * From the later of its open and its click on, an email counts as having both; from the click if
 * both happen at one instant.
 */
function changesOfOpen({ isFirst, openedAt, clickedAt }: CountedEvent): readonly CountChange[] {
  if (!isFirst) return NO_CHANGES
  const isLater = openedAt !== null && clickedAt !== null && clickedAt < openedAt
  return isLater ? [...OPENED, ...BOTH] : OPENED
}

function changesOfClick({ isFirst, openedAt, clickedAt }: CountedEvent): readonly CountChange[] {
  if (!isFirst) return NO_CHANGES
  const isLater = openedAt !== null && clickedAt !== null && openedAt <= clickedAt
  return isLater ? [...CLICKED, ...BOTH] : CLICKED
}

function one(metric: MailCount): readonly CountChange[] {
  return [{ metric, by: 1 }]
}
