/** The figures of emails, the same in every call. */
import { type SQL, sql } from '../../store/drizzle.ts'
import { mailCounts } from '../../store/schema/analytics.ts'
import { MAIL_COUNTS, type MailCounts } from './mail-counts.ts'

export const COUNT_NAMES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const

export const RATE_NAMES = [
  'deliveryRate',
  'openRate',
  'clickRate',
  'clickToOpenRate',
  'bounceRate',
  'complaintRate',
  'unsubscribeRate',
] as const

export const METRIC_NAMES = [...COUNT_NAMES, ...RATE_NAMES] as const
export type MetricName = (typeof METRIC_NAMES)[number]

/** Rates are percent of `sent` with two decimals, `clickToOpenRate` of `opened`; 0 of nothing. */
export type Metrics = Record<MetricName, number>

/** A name alone would mean the sum of that name, not the column. */
const column = (name: string) => sql.raw(`counts.${name}`)
const SENT = column('sent')
const OPENED = column('opened')
const DELIVERED = column('delivered')
const CLICKED = column('clicked')
const COMPLAINED = column('complained')
const UNSUBSCRIBED = column('unsubscribed')
const BOUNCED = sql.raw('(counts.hard_bounced + counts.soft_bounced)')

/** What each metric sums, and what rates divide the sum by. */
const TERMS: Record<MetricName, { part: SQL; of?: SQL }> = {
  sent: { part: SENT },
  delivered: { part: DELIVERED },
  opened: { part: OPENED },
  clicked: { part: CLICKED },
  bounced: { part: BOUNCED },
  complained: { part: COMPLAINED },
  unsubscribed: { part: UNSUBSCRIBED },
  deliveryRate: { part: DELIVERED, of: SENT },
  openRate: { part: OPENED, of: SENT },
  clickRate: { part: CLICKED, of: SENT },
  clickToOpenRate: { part: column('opened_and_clicked'), of: OPENED },
  bounceRate: { part: BOUNCED, of: SENT },
  complaintRate: { part: COMPLAINED, of: SENT },
  unsubscribeRate: { part: UNSUBSCRIBED, of: SENT },
}

/** The sums of `MailCounts` over `mailRows`, after `select`. */
export const MAIL_SUMS: SQL = sql.raw(
  MAIL_COUNTS.map((name) => `sum(counts.${mailCounts[name].name}) as "${name}"`).join(', '),
)

/** The value of a metric over grouped `mailRows`, for `order by`. */
export function metricTerm(name: MetricName): SQL {
  const { part, of } = TERMS[name]
  return of === undefined ? sql`sum(${part})` : sql`1.0 * sum(${part}) / nullif(sum(${of}), 0)`
}

export function toMetrics(sums: Readonly<MailCounts>): Metrics {
  const { sent, delivered, opened, clicked, openedAndClicked, complained, unsubscribed } = sums
  const bounced = sums.hardBounced + sums.softBounced
  return {
    ...{ sent, delivered, opened, clicked, bounced, complained, unsubscribed },
    deliveryRate: percent(delivered, sent),
    openRate: percent(opened, sent),
    clickRate: percent(clicked, sent),
    clickToOpenRate: percent(openedAndClicked, opened),
    bounceRate: percent(bounced, sent),
    complaintRate: percent(complained, sent),
    unsubscribeRate: percent(unsubscribed, sent),
  }
}

/** Two decimals. At most 100: an email is refused in the session, or bounces later, but may do both. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(100, Math.round((10_000 * part) / whole) / 100)
}
