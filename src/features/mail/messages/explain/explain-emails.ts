/**
 * Explains any number of emails at once: collects the facts for `explain.ts` from the database and,
 * for mail that has not ended, from the running server.
 */
import { WAITING_STATES } from '../../../../records/words.ts'
import { eachOf, indexedBy, jsonItem, listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { attempts, type Hold, holds } from '../../../../store/schema/messages.ts'
import { type Suppression, suppressions } from '../../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Reader } from '../../../../store/store.ts'
import type { Base } from '../../../ground/base.ts'
import { findRetryable, RETRYABLE } from '../queue/retryable.ts'
import { explainEmail } from './explain.ts'
import type { ExplainedEmail, Explanation, LastAttempt, LiveFacts } from './facts.ts'
import { findLiveStatus, type LiveDeps, type LiveStatusQuery } from './live-status.ts'

/** Asks the running server about mail; called only if some of the emails have not ended. */
export type FindLiveState = (question: LiveStatusQuery) => Promise<LiveFacts>

/** Up to this number, emails are looked up on this thread instead of a scan thread. */
const MAX_ON_THIS_THREAD = 10

/**
 * The server looks up the progress of at most this many emails, because each look-up is a message
 * to a delivery thread.
 */
const MAX_PROGRESS = 100

/**
 * The last attempt or report of each email; a delay, delivery or complaint does not explain the
 * state.
 */
export const listLastAttempts = statement((db) =>
  db
    .select({
      emailId: attempts.emailId,
      at: attempts.at,
      result: attempts.result,
      class: attempts.class,
      host: attempts.host,
      address: attempts.address,
      replyCode: attempts.replyCode,
      enhancedCode: attempts.enhancedCode,
      replyText: attempts.replyText,
      error: attempts.error,
      finalRecipient: attempts.finalRecipient,
      isMaybeDelivered: attempts.isMaybeDelivered,
    })
    .from(attempts)
    .where(
      sql`${attempts.id} in (select max(id) from attempts
        where email_id in ${listOf(parameter('ids'))}
          and result not in ('reported-delayed', 'reported-delivered', 'reported-complaint')
        group by email_id)`,
    ),
)

/** `pairs`: each has the id of a project and an address. */
export const listSuppressionsOf = statement((db) =>
  db
    .select({
      projectId: suppressions.projectId,
      address: suppressions.address,
      reason: suppressions.reason,
      source: suppressions.source,
      createdAt: suppressions.createdAt,
    })
    .from(suppressions)
    .where(
      sql`(${suppressions.projectId}, ${suppressions.address}) in
        (select ${jsonItem(sql`value`, 0)}, ${jsonItem(sql`value`, 1)}
          from ${eachOf(parameter('pairs'))})`,
    ),
)

/** Finds, for each domain, the first email in flight: due emails to the domain wait for it. */
export const listAhead = statement<{ domain: string; id: string }>(
  () => sql`select recipient_domain as domain, min(id) as id from emails ${indexedBy('emails_leased')}
    where lease_until is not null
      and recipient_domain in ${listOf(parameter('domains'))}
    group by recipient_domain`,
)

const listHolds = statement((db) => db.select().from(holds))

const SUPPRESSING_STATES = new Set(['bounced', 'suppressed'])

const WAITING: ReadonlySet<string> = new Set(WAITING_STATES)

/** States whose explanation says whether the email can be retried, or waits for its campaign. */
const ASKED_STATES = new Set(['queued', 'deferred', 'failed', 'held', 'paused'])

/** States in which the running server knows no more about an email than the database. */
const PARKED_STATES = new Set(['held', 'paused'])

type SuppressionFacts = Pick<Suppression, 'reason' | 'source' | 'createdAt'>

/** Returns the explanations by email id. */
export async function explainEmails(
  deps: Pick<Base, 'store' | 'now'>,
  emails: readonly ExplainedEmail[],
  findLive: FindLiveState,
): Promise<Map<string, Explanation>> {
  const reader = emails.length <= MAX_ON_THIS_THREAD ? deps.store.read : deps.store.scan
  const now = deps.now()
  const ahead = await findAhead(reader, emails, now)
  const asked = emails.filter(({ state }) => ASKED_STATES.has(state))
  const [lastAttempts, lists, held, retryable, live] = await Promise.all([
    findLastAttempts(reader, emails),
    findSuppressions(reader, emails),
    findHolds(reader, emails),
    // Scan threads have no key for the digests of addresses.
    findRetryable(
      deps.store.read,
      asked.map(({ id }) => id),
      now,
    ),
    findLiveOf(emails, [...ahead.values()], findLive),
  ])
  return new Map(
    emails.map((email) => {
      const facts = {
        hold: held.get(email.recipientDomain) ?? null,
        suppression: lists.get(`${email.projectId} ${email.recipient}`) ?? null,
        last: lastAttempts.get(email.id) ?? null,
        ...(retryable.get(email.id) ?? RETRYABLE),
        ahead: ahead.get(email.recipientDomain) ?? null,
      }
      return [email.id, explainEmail({ email, ...facts, live, now })]
    }),
  )
}

/**
 * Returns a function that finds the live state of a project's mail, for the API, which runs in the server's process.
 * The cause of a site's back-off is left out: it may be a reply to another project's mail, with its addresses. The
 * replies to the project's own emails are shown.
 */
export function findLiveStateForProject(deps: LiveDeps): FindLiveState {
  return async (question) => {
    const { sites, ...answer } = await findLiveStatus(deps, question)
    const shown = Object.entries(sites).map(([domain, site]) => {
      const status = site.status === null ? null : { ...site.status, cause: null }
      return [domain, { ...site, status }] as const
    })
    return { server: 'running', ...answer, sites: Object.fromEntries(shown) }
  }
}

/** Finds, by domain, the emails in flight that due emails wait for. */
async function findAhead(
  reader: Reader,
  emails: readonly ExplainedEmail[],
  now: number,
): Promise<Map<string, string>> {
  const due = emails.filter(({ dueAt }) => dueAt !== null && dueAt <= now)
  if (due.length === 0) return new Map()
  const domains = JSON.stringify([...new Set(due.map(({ recipientDomain }) => recipientDomain))])
  const rows = await reader.list(listAhead, { domains })
  return new Map(rows.map(({ domain, id }) => [domain, id]))
}

async function findLastAttempts(
  reader: Reader,
  emails: readonly ExplainedEmail[],
): Promise<Map<string, LastAttempt>> {
  const ids = emails.filter(
    ({ attemptCount, state }) =>
      // The count leaves out an interrupted attempt, after which the state is `deferred`.
      attemptCount > 0 || state === 'deferred' || !WAITING.has(state),
  )
  if (ids.length === 0) return new Map()
  const rows = await reader.list(listLastAttempts, {
    ids: JSON.stringify(ids.map(({ id }) => id)),
  })
  return new Map(rows.map(({ emailId, ...attempt }) => [emailId, attempt]))
}

async function findSuppressions(
  reader: Reader,
  emails: readonly ExplainedEmail[],
): Promise<Map<string, SuppressionFacts>> {
  const asked = emails.filter(({ state }) => SUPPRESSING_STATES.has(state))
  if (asked.length === 0) return new Map()
  const pairs = JSON.stringify(asked.map(({ projectId, recipient }) => [projectId, recipient]))
  const rows = await reader.list(listSuppressionsOf, { pairs })
  return new Map(
    rows.map(({ projectId, address, ...listed }) => [`${projectId} ${address}`, listed]),
  )
}

async function findHolds(
  reader: Reader,
  emails: readonly ExplainedEmail[],
): Promise<Map<string, Hold>> {
  if (!emails.some(({ state }) => WAITING.has(state))) return new Map()
  const rows = await reader.list(listHolds)
  return new Map(rows.map((hold) => [hold.domain, hold]))
}

async function findLiveOf(
  emails: readonly ExplainedEmail[],
  ahead: readonly string[],
  findLive: FindLiveState,
): Promise<LiveFacts> {
  const asked = emails.filter(({ state }) => WAITING.has(state) && !PARKED_STATES.has(state))
  if (asked.length === 0) return { server: 'silent' }
  const sending = asked.filter(({ state }) => state === 'sending').map(({ id }) => id)
  return findLive({
    domains: [...new Set(asked.map(({ recipientDomain }) => recipientDomain))],
    projectIds: [...new Set(asked.map(({ projectId }) => projectId))],
    emailIds: [...new Set([...sending, ...ahead])].slice(0, MAX_PROGRESS),
  })
}
