/** What the deliveries of the last hour say about connections to other mail servers. */
import { HOUR_MS } from '../../../base/clock.ts'
import { desc } from '../../../store/drizzle.ts'
import { attempts } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'

type SeenServer = { host: string; at: number }

export type DeliveryEvidence = {
  /** The last server that greeted this one or replied to it; null when none did. */
  answered: SeenServer | null
  /** Servers that did not answer after that, each once, the latest first. */
  unanswered: SeenServer[]
}

/** The latest attempts are enough: one answer settles it. */
const MAX_ATTEMPTS = 300

export async function findDeliveryEvidence({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<DeliveryEvidence> {
  const { id, at, host, address, replyCode, result, steps } = attempts
  const rows = await store.scan
    .select({ at, host, address, replyCode, result, steps })
    .from(attempts)
    .orderBy(desc(id))
    .limit(MAX_ATTEMPTS)
  const since = now() - HOUR_MS
  const unanswered = new Map<string, SeenServer>()
  for (const row of rows) {
    const isAttempt = row.host !== null && row.address !== null && row.at >= since
    // Reports are rows too; they arrive here, and no connection is needed for them.
    if (!isAttempt || row.result.startsWith('reported-')) continue
    const server = { host: `${row.host} [${row.address}]`, at: row.at }
    const greeted = row.steps.some(({ step, reply }) => step === 'greeting' && reply !== undefined)
    if (greeted || row.replyCode !== null) {
      return { answered: server, unanswered: [...unanswered.values()] }
    }
    if (!unanswered.has(server.host)) unanswered.set(server.host, server)
  }
  return { answered: null, unanswered: [...unanswered.values()] }
}
