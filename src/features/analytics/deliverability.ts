/** Bounces and complaints of the mail of a range, and how it fared with each receiving provider. */
import { sql } from '../../store/drizzle.ts'
import { addMail, MAIL_SUMS, type MailSums, type Metrics, NO_MAIL, toMetrics } from './metrics.ts'
import {
  type AnalyticsDeps,
  type AnalyticsQuery,
  currentPeriod,
  mailRows,
  SEGMENT,
} from './read-counts.ts'

type ProviderMetrics = { provider: string } & Metrics & { hardBounces: number; softBounces: number }

type Deliverability = {
  hardBounces: number
  softBounces: number
  complaints: number
  /** Those with most mail first. */
  providers: ProviderMetrics[]
}

type ProviderRow = MailSums & { provider: string }

export const MAX_PROVIDERS = 100

export async function findDeliverability(
  { store, now }: AnalyticsDeps,
  { projectId, range, stream }: AnalyticsQuery,
): Promise<Deliverability> {
  const counts = { projectId, stream, spans: currentPeriod(range, now()) }
  const [totals, providers] = await Promise.all([
    store.scan.all<MailSums>(
      sql`select ${MAIL_SUMS} ${mailRows('all', counts)} group by ${SEGMENT}`,
    ),
    store.scan.all<ProviderRow>(
      sql`select (select name from analytics_subjects where id = counts.subject) as provider, ${MAIL_SUMS}
        ${mailRows('provider', counts)} group by counts.subject
        order by sum(counts.sent) desc, provider limit ${sql.raw(String(MAX_PROVIDERS))}`,
    ),
  ])
  const { hardBounced, softBounced, complained } = totals.reduce(addMail, NO_MAIL)
  return {
    hardBounces: hardBounced,
    softBounces: softBounced,
    complaints: complained,
    providers: providers.map(toProvider),
  }
}

function toProvider({ provider, ...sums }: ProviderRow): ProviderMetrics {
  const { hardBounced: hardBounces, softBounced: softBounces } = sums
  return { provider, ...toMetrics(sums), hardBounces, softBounces }
}
