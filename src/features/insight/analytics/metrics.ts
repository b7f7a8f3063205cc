/** The figures of emails, which are computed in the same way for every call. */
import type { Metrics } from '../../../records/analytics.ts'
import { type COUNT_NAMES, type METRIC_NAMES, RATE_NAMES } from '../../../records/words.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { mailCounts } from '../../../store/schema/analytics.ts'
import { MAIL_COUNTS, type MailCounts } from './mail-counts.ts'

export type MetricName = (typeof METRIC_NAMES)[number]

type CountName = (typeof COUNT_NAMES)[number]
type RateName = (typeof RATE_NAMES)[number]
type Sum = CountName | 'openedAndClicked'

const RATES: Record<RateName, { part: Sum; of: Sum }> = {
  deliveryRate: { part: 'delivered', of: 'sent' },
  openRate: { part: 'opened', of: 'sent' },
  clickRate: { part: 'clicked', of: 'sent' },
  clickToOpenRate: { part: 'openedAndClicked', of: 'opened' },
  bounceRate: { part: 'bounced', of: 'sent' },
  complaintRate: { part: 'complained', of: 'sent' },
  unsubscribeRate: { part: 'unsubscribed', of: 'sent' },
}

/** The columns after `select` that sum `MailCounts` over `mailRows`. */
export const MAIL_SUMS: SQL = sql.raw(
  MAIL_COUNTS.map((name) => `sum(counts.${mailCounts[name].name}) as "${name}"`).join(', '),
)

/** The value of a metric over grouped `mailRows`, to be used in `order by`. */
export function metricTerm(name: MetricName): SQL {
  if (!isRate(name)) return sql`sum(${sumTerm(name)})`
  const { part, of } = RATES[name]
  return sql`1.0 * sum(${sumTerm(part)}) / nullif(sum(${sumTerm(of)}), 0)`
}

/**
 * The table's name must stand before the column: alone, the name would mean the sum of that name.
 */
function sumTerm(name: Sum): SQL {
  if (name === 'bounced') return sql.raw('(counts.hard_bounced + counts.soft_bounced)')
  return sql.raw(`counts.${mailCounts[name].name}`)
}

function isRate(name: MetricName): name is RateName {
  return Object.hasOwn(RATES, name)
}

export function toMetrics(counts: Readonly<MailCounts>): Metrics {
  const { sent, delivered, opened, clicked, complained, unsubscribed } = counts
  const bounced = counts.hardBounced + counts.softBounced
  const shown = { sent, delivered, opened, clicked, bounced, complained, unsubscribed }
  const sums: Record<Sum, number> = { ...shown, openedAndClicked: counts.openedAndClicked }
  const rates = RATE_NAMES.map((name) => {
    const { part, of } = RATES[name]
    return [name, percent(sums[part], sums[of])]
  })
  return { ...shown, ...(Object.fromEntries(rates) as Record<RateName, number>) }
}

/**
 * A percentage with two decimals. At most 100: an email may be refused in the session and also
 * bounce later.
 */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(100, Math.round((10_000 * part) / whole) / 100)
}
