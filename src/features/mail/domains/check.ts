/** Queries the records of one domain and stores its new verification state. */
import { DAY_MS } from '../../../base/clock.ts'
import { eq } from '../../../store/drizzle.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import type { Base } from '../../ground/base.ts'
import { isOwnedElsewhere } from './ownership.ts'
import { queryRecords } from './query-records.ts'
import { wantedRecords } from './records.ts'
import { nextVerificationState, type VerificationState } from './verification-state.ts'

export type CheckDeps = Pick<
  Base,
  'store' | 'config' | 'directory' | 'resolver' | 'reportDomainLoss' | 'now' | 'log'
>

const TOLD_EVERY_MS = 30 * DAY_MS

type CheckedDomain = {
  domain: Domain
  /** The key was found, but another project has verified the domain. */
  isRefused: boolean
}

/** Returns undefined when the domain was deleted meanwhile. */
export async function checkDomain(
  deps: CheckDeps,
  domain: Domain,
): Promise<CheckedDomain | undefined> {
  const records = wantedRecords(domain, deps.config.delivery.hostname)
  const findings = await queryRecords(deps.resolver, records)
  const at = deps.now()
  return deps.store.write(async (tx) => {
    const current = await tx.select().from(domains).where(eq(domains.id, domain.id)).get()
    if (current === undefined) return undefined
    const state = nextVerificationState(current, findings, at)
    const isNewlyVerified = state.isVerified && !current.isVerified
    const isRefused = isNewlyVerified && (await isOwnedElsewhere(tx, current))
    const change = isRefused ? toRefused(state) : state
    const isTold = current.isVerified && !change.isVerified && mayTell(current, at)
    if (isTold) await deps.reportDomainLoss(tx, current, at)
    const checked = await tx
      .update(domains)
      .set({
        ...change,
        ...(isOtherState(current, change) && { updatedAt: at }),
        ...(isTold && { lossToldAt: at }),
      })
      .where(eq(domains.id, current.id))
      .returning()
      .get()
    if (changesSending(current, change)) tx.afterCommit(deps.directory.drop)
    tx.afterCommit(() => logChange(deps, current, checked))
    return { domain: checked, isRefused }
  })
}

/** Members are told at most once a month. */
function mayTell({ lossToldAt }: Domain, at: number): boolean {
  return lossToldAt === null || at - lossToldAt >= TOLD_EVERY_MS
}

function toRefused(state: VerificationState): VerificationState {
  return { ...state, isVerified: false, status: 'Failed' }
}

function isOtherState(before: Domain, after: VerificationState): boolean {
  return before.status !== after.status || changesSending(before, after)
}

/** Compares the fields that the directory caches. Most checks change none of them. */
function changesSending(before: Domain, after: VerificationState): boolean {
  return (
    before.isVerified !== after.isVerified ||
    before.isEd25519Found !== after.isEd25519Found ||
    before.isReturnPathFound !== after.isReturnPathFound ||
    before.isMxFound !== after.isMxFound
  )
}

function logChange({ log }: Pick<Base, 'log'>, before: Domain, after: Domain): void {
  if (before.isVerified === after.isVerified) return
  const { id, domain, projectId } = after
  if (after.isVerified) log.info({ id, domain, projectId }, 'a sender domain is verified')
  else log.warn({ id, domain, projectId }, 'a sender domain has lost its verification')
}
