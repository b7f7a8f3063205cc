/**
 * The verification state of a domain after a check.
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
import { HOUR_MS } from '../../../base/clock.ts'
import type { Domain } from '../../../store/schema/domains.ts'
import type { Finding } from './query-records.ts'
import type { RecordPurpose } from './records.ts'

export type VerificationState = Pick<
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

/** Returns the state after a check at `at` (epoch ms). */
export function nextVerificationState(
  domain: Domain,
  findings: Finding[],
  at: number,
): VerificationState {
  // An unknown record keeps its earlier state.
  const found = (purpose: RecordPurpose, wasFound: boolean) => {
    const state = findings.find((finding) => finding.purpose === purpose)?.state
    return state === 'found' || ((state ?? 'unknown') === 'unknown' && wasFound)
  }
  return {
    ...nextKeyState(domain, findings, at),
    isEd25519Found: found('dkim-ed25519', domain.isEd25519Found),
    // Without the SPF record, the server's own return path is better.
    isReturnPathFound:
      found('return-path', domain.isReturnPathFound) &&
      found('return-path-spf', domain.isReturnPathFound),
    isMxFound: found('replies', domain.isMxFound),
    findings,
    checkedAt: at,
  }
}

function nextKeyState(domain: Domain, findings: Finding[], at: number): KeyState {
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

const VERIFIED: KeyState = {
  isVerified: true,
  status: 'Success',
  failedChecks: 0,
  failingSince: null,
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
