/** The filter of the list of emails: as the address of the page has it, and as the API wants it. */
import type { Operations } from '../../client/types.d.ts'
import { endOfDay, startOfDay } from './days.ts'
import type { EmailState } from './email-state.ts'
import type { UrlState } from './url-state.ts'

export type EmailQuery = Operations['GET /emails']['query']

/** The states by which the list can be filtered, with the statuses of the API. */
const STATUSES = {
  waiting: 'PENDING',
  sending: 'SENDING',
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

export type FilterState = keyof typeof STATUSES

export const FILTER_STATES = Object.keys(STATUSES) as readonly FilterState[]
export const SOURCES = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const
export const RANGES = ['24h', '7d', '30d', '90d'] as const

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const RANGE_DAYS: Readonly<Record<string, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }

export const EMAIL_FIELDS = {
  q: { kind: 'text' },
  state: { kind: 'list', values: FILTER_STATES },
  source: { kind: 'one', values: SOURCES },
  campaign: { kind: 'text' },
  domain: { kind: 'text' },
  range: { kind: 'one', values: RANGES },
  from: { kind: 'date' },
  until: { kind: 'date' },
} as const

export type EmailFilter = UrlState<typeof EMAIL_FIELDS>

/** `now` counts for a range that ends now; its minute is used, so that the same view is the same request. */
export function emailQuery(filter: EmailFilter, now: Date, timeZone: string): EmailQuery {
  const { q, state, source, campaign, domain, range, from, until } = filter
  const days = RANGE_DAYS[range]
  const minute = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
  const startDate =
    days !== undefined
      ? new Date(minute - days * DAY_MS).toISOString()
      : from === ''
        ? undefined
        : startOfDay(from, timeZone)
  return {
    ...(q !== '' && { search: q }),
    ...(state.length > 0 && { status: state.map((one) => STATUSES[one as FilterState]).join(',') }),
    ...(source !== '' && { source: source as (typeof SOURCES)[number] }),
    ...(campaign !== '' && { campaignId: campaign }),
    ...(domain !== '' && { domain }),
    ...(startDate !== undefined && { startDate }),
    ...(days === undefined && until !== '' && { endDate: endOfDay(until, timeZone) }),
  }
}
