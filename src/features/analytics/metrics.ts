/** The figures of emails, the same in every call. */
import { type SQL, sql } from '../../store/drizzle.ts'

/** Emails; a sum over rows of `mail_counts`. */
export type MailSums = {
  sent: number
  delivered: number
  opened: number
  clicked: number
  openedAndClicked: number
  hardBounced: number
  softBounced: number
  complained: number
  unsubscribed: number
}

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

const COLUMNS = [
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['opened', 'opened'],
  ['clicked', 'clicked'],
  ['opened_and_clicked', 'openedAndClicked'],
  ['hard_bounced', 'hardBounced'],
  ['soft_bounced', 'softBounced'],
  ['complained', 'complained'],
  ['unsubscribed', 'unsubscribed'],
] as const

/** The sums of `MailSums` over `mailRows`, after `select`. */
export const MAIL_SUMS: SQL = sql.raw(
  COLUMNS.map(([name, as]) => `sum(counts.${name}) as "${as}"`).join(', '),
)

export const NO_MAIL: Readonly<MailSums> = {
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  openedAndClicked: 0,
  hardBounced: 0,
  softBounced: 0,
  complained: 0,
  unsubscribed: 0,
}

/** The value of a metric over grouped `mailRows`, for `order by`. */
export function metricTerm(name: MetricName): SQL {
  const { part, of } = TERMS[name]
  return of === undefined ? sql`sum(${part})` : sql`1.0 * sum(${part}) / nullif(sum(${of}), 0)`
}

export function addMail(one: Readonly<MailSums>, other: Readonly<MailSums>): MailSums {
  const sums = COLUMNS.map(([, as]) => [as, one[as] + other[as]] as const)
  return Object.fromEntries(sums) as MailSums
}

export function toMetrics(sums: Readonly<MailSums>): Metrics {
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
