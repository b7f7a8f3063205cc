/**
 * What a final refusal means for the address: in session and by a later report alike.
 *
 * A verdict of our own (a session's, or one from DNS) may be our own mistake, and a mistake of ours
 * hits many addresses at once: it may have to wait (held-suppression.ts). What others report does
 * not.
 */
import { DAY_MS } from '../../../clock.ts'
import type { Verdict } from '../../../mail/replies/reply.ts'
import type { Email } from '../../../store/schema/messages.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type BounceSuppression, suppressBouncedAddress } from './bounce-suppression.ts'
import type { Fuse } from './fuse.ts'
import { holdSuppression } from './held-suppression.ts'
import { isKnownDomain } from './known-domains.ts'
import { recordStrike } from './strikes.ts'
import { isSuppressed } from './suppression.ts'

type Refusal = {
  email: Pick<Email, 'id' | 'projectId' | 'contactId' | 'recipient' | 'recipientDomain'>
  verdict: Pick<Verdict, 'isHard' | 'isStrike' | 'reason'>
  /** The refusal as one line, for people. */
  source: string
  at: number
}

type Deps = { fuse: Fuse }

const SECOND_LOOK_MS = DAY_MS

/**
 * Class hard suppresses at once, a full or disabled mailbox and an unexplained 5xx are strikes; what
 * is not the address's fault (our host on a list, the content, a policy) changes nothing.
 */
export async function suppressReportedBounce(tx: Tx, refusal: Refusal): Promise<void> {
  const condemnation = await findCondemnation(tx, refusal)
  if (condemnation !== undefined) await suppressBouncedAddress(tx, condemnation)
}

/** The same by a verdict of our own. `isByDns`: nobody was spoken to. */
export async function suppressOwnBounce(
  deps: Deps,
  tx: Tx,
  { isByDns, ...refusal }: Refusal & { isByDns: boolean },
): Promise<void> {
  const condemnation = await findCondemnation(tx, refusal)
  if (condemnation === undefined) return
  if (isByDns && (await isKnownDomain(tx, condemnation.domain))) {
    const dueAt = condemnation.at + SECOND_LOOK_MS
    const isNew =
      !(await isSuppressed(tx, condemnation)) &&
      (await holdSuppression(tx, condemnation, { cause: 'domain', dueAt }))
    if (isNew) tx.afterCommit(() => deps.fuse.recordHeld('domain'))
    return
  }
  await suppressUnlessTooMany(deps, tx, condemnation)
}

/** Suppresses, or holds where there are too many at once. */
export async function suppressUnlessTooMany(
  { fuse }: Deps,
  tx: Tx,
  condemnation: BounceSuppression,
): Promise<void> {
  const isNew = !(await isSuppressed(tx, condemnation))
  if (!isNew || !fuse.trips(condemnation.emailId)) {
    await suppressBouncedAddress(tx, condemnation)
    return
  }
  const isHeld = await holdSuppression(tx, condemnation, { cause: 'fuse', dueAt: null })
  if (isHeld) tx.afterCommit(() => fuse.recordHeld('fuse'))
}

async function findCondemnation(
  tx: Tx,
  { email, verdict, source, at }: Refusal,
): Promise<BounceSuppression | undefined> {
  const { id: emailId, projectId, contactId, recipient, recipientDomain: domain } = email
  const { isHard, isStrike, reason } = verdict
  const of = { projectId, contactId, address: recipient, emailId, at }
  if (isHard) return { ...of, domain, reason: 'HARD_BOUNCE', source }
  if (!isStrike) return undefined
  const sum = await recordStrike(tx, { ...of, reason })
  return sum === undefined ? undefined : { ...of, domain, reason: 'STRIKES', source: sum }
}
