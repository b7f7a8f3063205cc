/**
 * Checks domains in the background: queries the records of a domain, stores its new verification state, and deletes
 * domains that stay unverified.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { rowsChanged } from '../../../store/database.ts'
import { and, asc, eq, isNull, lte, notInArray, or, sql } from '../../../store/drizzle.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import { templates } from '../../../store/schema/messages.ts'
import { alternate } from '../../../turns/alternate.ts'
import type { Base } from '../../ground/base.ts'
import { isOwnedElsewhere } from './ownership.ts'
import { type DnsFinding, queryRecords } from './query-records.ts'
import { type RecordPurpose, wantedRecords } from './records.ts'

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

/**
 * A domain is due again after less than the 5 minutes between two runs, because a run takes some
 * time itself.
 */
const DUE_AFTER_MS = 4 * MINUTE_MS

const RUN_MS = 4 * MINUTE_MS

const CONCURRENCY = 8

const UNVERIFIED_MS = 30 * DAY_MS

type VerificationState = Pick<
  Domain,
  | 'isVerified'
  | 'status'
  | 'failedChecks'
  | 'failingSince'
  | 'isEd25519Found'
  | 'isReturnPathFound'
  | 'isMxFound'
  | 'findings'
  | 'checkedAt'
>

type KeyState = Pick<Domain, 'isVerified' | 'status' | 'failedChecks' | 'failingSince'>

const MAX_FAILED_CHECKS = 3

const MIN_FAILING_MS = HOUR_MS

const VERIFIED: KeyState = {
  isVerified: true,
  status: 'Success',
  failedChecks: 0,
  failingSince: null,
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

/**
 * Checks the domains that are not trusted, eight at a time, the least recently checked first; runs every 5 minutes.
 * Projects alternate, and a run ends in time for the next one: name servers that do not answer take seconds, and a
 * project may have many such domains. Returns the number of checked domains. A failed check is logged and does not
 * stop the others.
 */
export async function checkDueDomains(deps: CheckDeps, signal?: AbortSignal): Promise<number> {
  const ids = await listDue(deps)
  const endAt = deps.now() + RUN_MS
  let next = 0
  let checked = 0
  const work = async () => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      if (signal?.aborted || deps.now() >= endAt) return
      if (await checkOne(deps, id)) checked += 1
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return checked
}

/**
 * Deletes domains that were not verified within 30 days, or not verified again within 30 days after their checks
 * began to fail. A domain that a template sends from stays. Returns the number of deleted domains.
 */
export async function deleteExpiredDomains({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<number> {
  const before = now() - UNVERIFIED_MS
  return store.write(async (tx) => {
    const used = tx
      .select({ domain: templates.fromDomain })
      .from(templates)
      .where(eq(templates.projectId, domains.projectId))
    const isExpired = and(
      eq(domains.isVerified, false),
      sql`coalesce(${domains.failingSince}, ${domains.createdAt}) < ${before}`,
      notInArray(domains.domain, used),
    )
    return rowsChanged(await tx.delete(domains).where(isExpired))
  })
}

/**
 * Returns the verification state of a domain after a check at `at` (epoch ms).
 *
 * | the RSA key is | not verified yet            | verified                                    |
 * |----------------|-----------------------------|---------------------------------------------|
 * | found          | verified, Success           | Success; earlier failures are cleared       |
 * | missing        | Pending (Failed if it was   | a failure; not verified and Failed after    |
 * |                | verified before)            | three in a row over at least an hour        |
 * | different      | Failed                      | like missing                                |
 * | unknown        | TemporaryFailure; nothing   | TemporaryFailure; nothing else changes:     |
 * |                | else changes                | earlier failures still count                |
 *
 * A trusted domain is verified regardless of its records.
 */
export function nextVerificationState(
  domain: Domain,
  findings: DnsFinding[],
  at: number,
): VerificationState {
  // A record whose query got no answer keeps its earlier state.
  const found = (purpose: RecordPurpose, wasFound: boolean) => {
    const state = findings.find((finding) => finding.purpose === purpose)?.state
    return state === 'found' || ((state ?? 'unknown') === 'unknown' && wasFound)
  }
  return {
    ...nextKeyState(domain, findings, at),
    isEd25519Found: found('dkim-ed25519', domain.isEd25519Found),
    // The MX record alone is not enough: without an SPF record, the return path of the domain is
    // worse than the server's own.
    isReturnPathFound:
      found('return-path', domain.isReturnPathFound) &&
      found('return-path-spf', domain.isReturnPathFound),
    isMxFound: found('replies', domain.isMxFound),
    findings,
    checkedAt: at,
  }
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

async function listDue({ store, now }: Pick<Base, 'store' | 'now'>): Promise<string[]> {
  const isDue = or(isNull(domains.checkedAt), lte(domains.checkedAt, now() - DUE_AFTER_MS))
  const rows = await store.scan
    .select({ id: domains.id, projectId: domains.projectId })
    .from(domains)
    .where(and(eq(domains.isTrusted, false), isDue))
    .orderBy(asc(domains.checkedAt), asc(domains.id))
  return alternate(rows, ({ projectId }) => projectId).map(({ id }) => id)
}

async function checkOne(deps: CheckDeps, id: string): Promise<boolean> {
  try {
    const domain = await deps.store.read.select().from(domains).where(eq(domains.id, id)).get()
    return domain !== undefined && (await checkDomain(deps, domain)) !== undefined
  } catch (error) {
    deps.log.error({ id, error: describeError(error) }, 'a domain could not be checked')
    return false
  }
}

function nextKeyState(domain: Domain, findings: DnsFinding[], at: number): KeyState {
  const { isVerified, failedChecks, failingSince } = domain
  const withStatus = (status: KeyState['status']) => {
    return { isVerified, failedChecks, failingSince, status }
  }
  if (domain.isTrusted) return VERIFIED
  switch (findings.find(({ purpose }) => purpose === 'dkim')?.state) {
    case 'found':
      return VERIFIED
    case 'missing':
      if (isVerified) return countFailure(domain, at)
      return withStatus(failingSince === null ? 'Pending' : 'Failed')
    case 'different':
      return isVerified ? countFailure(domain, at) : withStatus('Failed')
    default:
      return withStatus('TemporaryFailure')
  }
}

/**
 * `failingSince` stays when the domain loses its verification: the domain is deleted 30 days after
 * `failingSince`.
 */
function countFailure(domain: Domain, at: number): KeyState {
  const failedChecks = domain.failedChecks + 1
  const failingSince = domain.failingSince ?? at
  const isLost = failedChecks >= MAX_FAILED_CHECKS && at - failingSince >= MIN_FAILING_MS
  return { isVerified: !isLost, status: isLost ? 'Failed' : 'Success', failedChecks, failingSince }
}
