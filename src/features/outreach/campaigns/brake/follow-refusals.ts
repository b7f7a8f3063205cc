/**
 * Counts what the brake needs beside the figures: hard bounces, and refusals for reputation, content
 * or authentication, also temporary ones. A follower of attempts counts an email once for each kind;
 * its marks, the counts and the cursor are written in one transaction. It reads attempts, because a temporary
 * refusal makes no event, so it has no part in the readers of events.
 */
import { classifyReply } from '../../../../formats/replies/classify-reply.ts'
import type { RowOf } from '../../../../store/database.ts'
import { listOf, unseen } from '../../../../store/dialect.ts'
import { asc, gt, sql } from '../../../../store/drizzle.ts'
import { attempts } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type Follower, startFollower } from '../../../../work/follower.ts'
import type { Base } from '../../../ground/base.ts'
import type { FollowerName } from '../../../ground/event-handlers.ts'
import { createCursors, followedRows } from '../../../ground/events/followed-rows.ts'
import {
  AUTHENTICATION_REFUSAL_MARK,
  HARD_BOUNCE_MARK,
  REFUSAL_MARK,
  whileCampaigns,
} from '../figures/figures.ts'
import { type BrakeDeps, brakeCampaigns } from './brake.ts'

const BATCH = 2_000
const LINGER_MS = 250

const listAttempts = statement((db) =>
  db
    .select({
      seq: attempts.id,
      emailId: attempts.emailId,
      class: attempts.class,
      host: attempts.host,
      replyCode: attempts.replyCode,
      enhancedCode: attempts.enhancedCode,
      replyText: attempts.replyText,
    })
    .from(attempts)
    .where(gt(attempts.id, parameter('seq')))
    .orderBy(asc(attempts.id))
    .limit(unseen(parameter('limit'))),
)

type AttemptFacts = RowOf<typeof listAttempts>

/**
 * `mark`: the bit that marks an email as counted for this kind. `column`: the count in
 * `campaign_progress`.
 */
type RefusalKind = { mark: number; column: string }

const KINDS = {
  hardBounce: { mark: HARD_BOUNCE_MARK, column: 'hard_bounce_count' },
  refusal: { mark: REFUSAL_MARK, column: 'refusal_count' },
  authentication: { mark: AUTHENTICATION_REFUSAL_MARK, column: 'authentication_refusal_count' },
} as const satisfies Record<string, RefusalKind>

/**
 * Marks emails that have not been counted for a kind. An email that will be tried again is no hard
 * bounce. `isOld`: the email was sent before the campaign was resumed, so the brake does not count
 * it.
 */
const markEmails = statement<{ campaignId: string; isOld: number }>(
  () => sql`update emails set figures = figures | ${parameter('mark')}
    where id in ${listOf(parameter('ids'))} and campaign_id is not null
      and figures & ${parameter('mark')} = 0
      and (${parameter('mark')} <> ${HARD_BOUNCE_MARK} or bounced_at is not null)
    returning campaign_id as "campaignId", coalesce((
      select emails.sent_at < resumed_at from campaign_progress
      where campaign_progress.campaign_id = emails.campaign_id), 0) as "isOld"`,
)

export function startRefusals(deps: BrakeDeps & Pick<Base, 'store' | 'log'>): Follower {
  const name: FollowerName = 'campaign-refusals'
  return startFollower(deps, {
    ...{ name, batch: BATCH, lingerMs: LINGER_MS },
    rows: followedRows(deps.store, 'attempts', listAttempts),
    cursors: createCursors(deps),
    handlers: [
      { name, mayMatter: whileCampaigns, handle: (tx, rows) => countRefusals(deps, tx, rows) },
    ],
  })
}

async function countRefusals(
  deps: BrakeDeps,
  tx: Tx,
  rows: readonly AttemptFacts[],
): Promise<void> {
  const groups = Map.groupBy(rows, kindOf)
  groups.delete(undefined)
  const changed = new Set<string>()
  for (const [kind, group] of groups) {
    if (kind === undefined) continue
    for (const id of await countKind(tx, kind, group)) changed.add(id)
  }
  await brakeCampaigns(deps, tx, [...changed])
}

function kindOf(attempt: AttemptFacts): RefusalKind | undefined {
  if (attempt.class === 'hard') return KINDS.hardBounce
  if (attempt.class === 'block' || attempt.class === 'content') return KINDS.refusal
  return isAuthenticationRefusal(attempt) ? KINDS.authentication : undefined
}

/**
 * Whether a reply refuses the email for missing authentication. An attempt stores only the class of
 * its reply, so the reply is classified again to find the reason.
 */
function isAuthenticationRefusal(attempt: AttemptFacts): boolean {
  const { replyCode, enhancedCode, replyText, host } = attempt
  if (attempt.class !== 'policy') return false
  const { reason } = classifyReply({
    stage: replyCode === null ? 'late' : 'message',
    reply: { code: replyCode ?? 0, enhancedCode, text: replyText ?? '' },
    ...(host === null ? {} : { mxHost: host }),
  })
  return reason === 'authfailure'
}

/**
 * Counts the emails of the attempts for one kind. Returns the campaigns of the emails that were
 * counted.
 */
async function countKind(
  tx: Tx,
  { mark, column }: RefusalKind,
  attempts: readonly AttemptFacts[],
): Promise<string[]> {
  const ids = JSON.stringify([...new Set(attempts.map(({ emailId }) => emailId))])
  const marked = await tx.list(markEmails, { ids, mark })
  const current = marked.filter(({ isOld }) => isOld === 0)
  const counts = Map.groupBy(current, ({ campaignId }) => campaignId)
  for (const [campaignId, { length }] of counts) {
    const name = sql.raw(column)
    await tx.run(
      sql`update campaign_progress set ${name} = ${name} + ${length}
        where campaign_id = ${campaignId}`,
    )
  }
  return [...counts.keys()]
}
