/**
 * Applies a bounce to its address: a suppression, a strike, or nothing.
 *
 * A verdict of this server (from a session or from DNS) may be a mistake of this server, which
 * would hit many addresses at once. Its suppression may therefore be held: the email has bounced,
 * but its address is not suppressed and the contact that has it not unsubscribed yet. A bounce that another
 * server reports is never held.
 *
 * | cause    | why                                  | ended by                                    |
 * |----------|--------------------------------------|---------------------------------------------|
 * | `fuse`   | too many at once (the fuse)          | `pillarbox suppressions confirm` or `undo`  |
 * | `domain` | DNS denies a domain that is known    | a recheck after a day                       |
 *
 * `suppressions/held-suppressions.ts` has these ends. Any other suppression of the address
 * (`suppression.ts`) ends a held one too.
 */
import { DAY_MS } from '../../../../base/clock.ts'
import type { ReplyVerdict } from '../../../../formats/replies/reply.ts'
import { sql } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import type { Email } from '../../../../store/schema/messages.ts'
import { heldSuppressions } from '../../../../store/schema/suppressions.ts'
import type { HeldCause, SuppressionReason } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { unsubscribeAddresses } from '../../../people/contacts/write/unsubscribe-addresses.ts'
import { recordStrike } from './strikes.ts'
import { isSuppressed, suppress, suppressReported } from './suppression.ts'
import { type Fuse, isKnownDomain } from './suppression-guards.ts'

export type BounceSuppression = {
  projectId: string
  contactId: string
  address: string
  /** The domain of the address, in A-labels. */
  domain: string
  reason: Extract<SuppressionReason, 'HARD_BOUNCE' | 'STRIKES'>
  /** One line, for operators. */
  source: string
  /** The email that bounced. */
  emailId: string
  at: number
}

type BouncedRefusal = {
  email: Pick<Email, 'id' | 'projectId' | 'contactId' | 'recipient' | 'recipientDomain'>
  verdict: Pick<ReplyVerdict, 'isHard' | 'isStrike' | 'reason'>
  /** The refusal, as one line for operators. */
  source: string
  at: number
}

type Deps = { fuse: Fuse }

const RECHECK_AFTER_MS = DAY_MS

/**
 * Holds a suppression. A suppression that is already held for the fuse stays so; one that is held
 * for its domain becomes one of the fuse if the fuse blows.
 */
const insertHeld = statement((db) =>
  db
    .insert(heldSuppressions)
    .values({
      id: parameter('id'),
      projectId: parameter('projectId'),
      contactId: parameter('contactId'),
      address: parameter('address'),
      domain: parameter('domain'),
      reason: parameter('reason'),
      source: parameter('source'),
      emailId: parameter('emailId'),
      cause: parameter('cause'),
      dueAt: parameter('dueAt'),
      createdAt: parameter('at'),
    })
    .onConflictDoUpdate({
      target: [heldSuppressions.projectId, heldSuppressions.address],
      set: {
        reason: sql`excluded.reason`,
        source: sql`excluded.source`,
        emailId: sql`excluded.email_id`,
        cause: sql`excluded.cause`,
        dueAt: sql`excluded.due_at`,
        createdAt: sql`excluded.created_at`,
      },
      setWhere: sql`${heldSuppressions.cause} = 'domain' and excluded.cause = 'fuse'`,
    }),
)

/**
 * Applies bounces that other servers report, all of one instant. The class `hard` suppresses the address at once; a
 * full or disabled mailbox and an unexplained 5xx are strikes; a refusal that is not the fault of
 * the address (this server on a blocklist, the content, a policy) changes nothing.
 */
export async function suppressReportedBounces(
  tx: Tx,
  refusals: readonly BouncedRefusal[],
): Promise<void> {
  const found: BounceSuppression[] = []
  for (const refusal of refusals) {
    const suppression = await findSuppression(tx, refusal)
    if (suppression !== undefined) found.push(suppression)
  }
  const [first] = found
  if (first === undefined) return
  await suppressReported(tx, found.map(toRow))
  for (const [projectId, ofProject] of Map.groupBy(found, (each) => each.projectId)) {
    // The rows are read from the last to the first, so that the first bounce of an address is the
    // reason for its suppression.
    const addresses = new Map(ofProject.toReversed().map((each) => [each.address, each.emailId]))
    await unsubscribeAddresses(tx, { projectId, addresses, reason: 'bounce', at: first.at })
  }
}

/** Applies a bounce by a verdict of this server. `isByDns`: no server was contacted. */
export async function suppressOwnBounce(
  deps: Deps,
  tx: Tx,
  { isByDns, ...refusal }: BouncedRefusal & { isByDns: boolean },
): Promise<void> {
  const suppression = await findSuppression(tx, refusal)
  if (suppression === undefined) return
  if (isByDns && (await isKnownDomain(tx, suppression.domain))) {
    const dueAt = suppression.at + RECHECK_AFTER_MS
    const isNew =
      !(await isSuppressed(tx, suppression)) &&
      (await holdSuppression(tx, suppression, { cause: 'domain', dueAt }))
    if (isNew) tx.afterCommit(() => deps.fuse.recordHeld('domain'))
    return
  }
  await suppressUnlessTooMany(deps, tx, suppression)
}

/** Suppresses the address, or holds the suppression if the fuse has blown. */
export async function suppressUnlessTooMany(
  { fuse }: Deps,
  tx: Tx,
  suppression: BounceSuppression,
): Promise<void> {
  const isNew = !(await isSuppressed(tx, suppression))
  if (!isNew || !fuse.mustHold(suppression.emailId)) {
    await suppressBouncedAddress(tx, suppression)
    return
  }
  const isHeld = await holdSuppression(tx, suppression, { cause: 'fuse', dueAt: null })
  if (isHeld) tx.afterCommit(() => fuse.recordHeld('fuse'))
}

/**
 * Suppresses the address, and unsubscribes the contact that has the address now: a suppression may be
 * held for days. Returns false if the address was suppressed already.
 */
export async function suppressBouncedAddress(
  tx: Tx,
  suppression: BounceSuppression,
): Promise<boolean> {
  const { projectId, address, emailId, at } = suppression
  const isNew = await suppress(tx, toRow(suppression))
  const addresses = new Map([[address, emailId]])
  await unsubscribeAddresses(tx, { projectId, addresses, reason: 'bounce', at })
  return isNew
}

function toRow({ projectId, address, reason, source, emailId, at }: BounceSuppression) {
  return { projectId, address, reason, source, emailId, at }
}

/**
 * Returns whether the suppression is newly held. `dueAt`: when to recheck (epoch ms); null for the
 * fuse.
 */
async function holdSuppression(
  tx: Tx,
  suppression: BounceSuppression,
  wait: { cause: HeldCause; dueAt: number | null },
): Promise<boolean> {
  return (await tx.execute(insertHeld, { ...suppression, ...wait, id: newId() })) === 1
}

async function findSuppression(
  tx: Tx,
  { email, verdict, source, at }: BouncedRefusal,
): Promise<BounceSuppression | undefined> {
  const { id: emailId, projectId, contactId, recipient, recipientDomain: domain } = email
  const { isHard, isStrike, reason } = verdict
  const common = { projectId, contactId, address: recipient, emailId, at }
  if (isHard) return { ...common, domain, reason: 'HARD_BOUNCE', source }
  if (!isStrike) return undefined
  const sum = await recordStrike(tx, { ...common, reason })
  return sum === undefined ? undefined : { ...common, domain, reason: 'STRIKES', source: sum }
}
