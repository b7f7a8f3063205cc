/** The filter of the list of emails: as the address of the page has it, and as the API wants it. */
import type { Operations } from '../../client/types.d.ts'
import { endOfDay, startOfDay } from './days.ts'
import type { EmailState } from './email-state.ts'
import type { UrlState } from './url-state.ts'

export type EmailQuery = Operations['GET /emails']['query']

/** States of mail that has not arrived, with the names of the queue. */
const QUEUE = {
  waiting: 'queued',
  deferred: 'deferred',
  held: 'held',
  paused: 'paused',
  sending: 'sending',
} as const satisfies Partial<Record<EmailState, string>>

/** States of mail that has ended, with the statuses of the API. */
export const STATUSES = {
  relayed: 'SENT',
  delivered: 'DELIVERED',
  opened: 'OPENED',
  clicked: 'CLICKED',
  bounced: 'BOUNCED',
  complained: 'COMPLAINED',
  failed: 'FAILED',
  suppressed: 'SUPPRESSED',
  received: 'RECEIVED',
} as const satisfies Partial<Record<EmailState, string>>

export type FilterState = keyof typeof QUEUE | keyof typeof STATUSES

export const FILTER_STATES = [
  ...Object.keys(QUEUE),
  ...Object.keys(STATUSES),
] as readonly FilterState[]
export const SOURCES = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const
export const RANGES = ['24h', '7d', '30d', '90d'] as const

/** In an address, all states of the queue together. */
export const ALL_WAITING = 'waiting'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const RANGE_DAYS: Readonly<Record<string, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }

export const EMAIL_FIELDS = {
  q: { kind: 'text' },
  status: { kind: 'list', values: Object.values(STATUSES) },
  state: { kind: 'list', values: [ALL_WAITING, ...Object.values(QUEUE)] },
  source: { kind: 'one', values: SOURCES },
  campaign: { kind: 'text' },
  receiver: { kind: 'text' },
  domain: { kind: 'text' },
  range: { kind: 'one', values: RANGES },
  from: { kind: 'date' },
  to: { kind: 'date' },
} as const

export type ListFilter = UrlState<typeof EMAIL_FIELDS>

export const NO_FILTER: ListFilter = {
  ...{ q: '', source: '', campaign: '', receiver: '', domain: '', range: '', from: '', to: '' },
  ...{ status: [], state: [] },
}

/** The states that the filter chooses. */
export function chosenStates({ status, state }: Pick<ListFilter, 'status' | 'state'>) {
  const isAll = state.includes(ALL_WAITING)
  return FILTER_STATES.filter((one) => {
    if (one in QUEUE) return isAll || state.includes(QUEUE[one as keyof typeof QUEUE])
    return status.includes(STATUSES[one as keyof typeof STATUSES])
  })
}

/**
 * The filter with these states chosen. Mail cannot both wait and have ended, so a state of one kind that is added
 * takes those of the other kind away.
 */
export function withStates(filter: ListFilter, wanted: readonly string[]) {
  const before: readonly string[] = chosenStates(filter)
  const added = wanted.find((one) => !before.includes(one))
  const chosen = wanted.filter((one) => added === undefined || one in QUEUE === added in QUEUE)
  return {
    state: Object.entries(QUEUE).flatMap(([one, name]) => (chosen.includes(one) ? [name] : [])),
    status: Object.entries(STATUSES).flatMap(([one, name]) => (chosen.includes(one) ? [name] : [])),
  }
}

/** `now` counts for a range that ends now; its minute is used, so that the same view is the same request. */
export function emailQuery(filter: ListFilter, now: Date, timeZone: string): EmailQuery {
  const { q, status, state, source, campaign, receiver, domain } = filter
  const given = {
    ...{ search: q, campaignId: campaign, receiver, domain, source },
    ...{ status: status.join(','), state: state.join(',') },
    ...datesOf(filter, now, timeZone),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
}

function datesOf({ range, from, to }: ListFilter, now: Date, timeZone: string) {
  const days = RANGE_DAYS[range]
  if (days !== undefined) {
    const minute = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
    return { startDate: new Date(minute - days * DAY_MS).toISOString() }
  }
  return {
    startDate: from === '' ? '' : startOfDay(from, timeZone),
    endDate: to === '' ? '' : endOfDay(to, timeZone),
  }
}
