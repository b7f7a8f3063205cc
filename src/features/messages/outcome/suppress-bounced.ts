/**
 * Applies a bounce to its address: a suppression, a strike, or nothing.
 *
 * A verdict of this server (from a session or from DNS) may be a mistake of this server, which
 * would hit many addresses at once: its suppression may be held (`held-suppression.ts`). A bounce
 * that another server reports is never held.
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
  /** The refusal as one line, for operators. */
  source: string
  at: number
}

type Deps = { fuse: Fuse }

const RECHECK_AFTER_MS = DAY_MS

/**
 * Applies a bounce that another server reports. The class `hard` suppresses the address at once; a
 * full or disabled mailbox and an unexplained 5xx are strikes; a refusal that is not the fault of
 * the address (this server on a blocklist, the content, a policy) changes nothing.
 */
export async function suppressReportedBounce(tx: Tx, refusal: Refusal): Promise<void> {
  const suppression = await findSuppression(tx, refusal)
  if (suppression !== undefined) await suppressBouncedAddress(tx, suppression)
}

/** Applies a bounce by a verdict of this server. `isByDns`: no server was contacted. */
export async function suppressOwnBounce(
  deps: Deps,
  tx: Tx,
  { isByDns, ...refusal }: Refusal & { isByDns: boolean },
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

async function findSuppression(
  tx: Tx,
  { email, verdict, source, at }: Refusal,
): Promise<BounceSuppression | undefined> {
  const { id: emailId, projectId, contactId, recipient, recipientDomain: domain } = email
  const { isHard, isStrike, reason } = verdict
  const common = { projectId, contactId, address: recipient, emailId, at }
  if (isHard) return { ...common, domain, reason: 'HARD_BOUNCE', source }
  if (!isStrike) return undefined
  const sum = await recordStrike(tx, { ...common, reason })
  return sum === undefined ? undefined : { ...common, domain, reason: 'STRIKES', source: sum }
}
