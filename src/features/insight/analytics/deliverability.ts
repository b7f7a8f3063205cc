/** Bounces and complaints of the mail of a range, and how it fared with each receiving provider. */
import type { DeliverabilityFigures } from '../../../records/analytics.ts'
import { sql } from '../../../store/drizzle.ts'
import { type MailCounts, NO_MAIL } from './mail-counts.ts'
import { MAIL_SUMS, toMetrics } from './metrics.ts'
import {
  type AnalyticsDeps,
  type AnalyticsQuery,
  currentPeriod,
  mailRows,
  sumSpans,
} from './read-counts.ts'

type ProviderRow = MailCounts & { provider: string }

export const MAX_PROVIDERS = 100

export async function findDeliverability(
  deps: AnalyticsDeps,
  { projectId, range, stream }: AnalyticsQuery,
): Promise<DeliverabilityFigures> {
  const counts = { projectId, stream, spans: currentPeriod(range, deps.now()) }
  const [totals, providers] = await Promise.all([
    sumSpans(deps, counts),
    deps.store.scan.all<ProviderRow>(
      sql`select (select name from analytics_subjects where id = counts.subject) as provider, ${MAIL_SUMS}
        ${mailRows('provider', counts)} group by counts.subject
        order by sum(counts.sent) desc, provider limit ${sql.raw(String(MAX_PROVIDERS))}`,
    ),
  ])
  const { hardBounced, softBounced, complained } = totals.get(0) ?? NO_MAIL
  return {
    hardBounces: hardBounced,
    softBounces: softBounced,
    complaints: complained,
    providers: providers.map(toProvider),
  }
}

function toProvider({
  provider,
  ...sums
}: ProviderRow): DeliverabilityFigures['providers'][number] {
  const { hardBounced: hardBounces, softBounced: softBounces } = sums
  return { provider, ...toMetrics(sums), hardBounces, softBounces }
}
