/**
 * What a check makes of a domain.
 *
 * | the RSA key is | not verified yet            | verified                                    |
 * |----------------|-----------------------------|---------------------------------------------|
 * | found          | verified, Success           | Success, earlier failures forgotten         |
 * | missing        | Pending (Failed if it was   | a failure; un-verified and Failed after the |
 * |                | verified before)            | third in a row, over at least an hour       |
 * | different      | Failed                      | as missing                                  |
 * | unknown        | TemporaryFailure, nothing   | TemporaryFailure, nothing else changes:     |
 * |                | else changes                | the failures before it still count          |
 *
 * A trusted domain is verified whatever its records say.
 */
import { HOUR_MS } from '../../clock.ts'
import type { Domain } from '../../store/schema/domains.ts'
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

type Standing = Pick<Domain, 'isVerified' | 'status' | 'failedChecks' | 'failingSince'>

const MAX_FAILED_CHECKS = 3
const MIN_FAILING_MS = HOUR_MS

/** `at`: epoch ms of the check. */
export function nextVerificationState(
  domain: Domain,
  findings: Finding[],
  at: number,
): VerificationState {
  const found = (purpose: RecordPurpose, isFoundNow: boolean) => {
    const state = findings.find((finding) => finding.purpose === purpose)?.state
    return state === 'found' || ((state ?? 'unknown') === 'unknown' && isFoundNow)
  }
  return {
    ...judgeStanding(domain, findings, at),
    isEd25519Found: found('dkim-ed25519', domain.isEd25519Found),
    // Without the SPF record the return path of the server itself serves better.
    isReturnPathFound:
      found('return-path', domain.isReturnPathFound) &&
      found('return-path-spf', domain.isReturnPathFound),
    isMxFound: found('replies', domain.isMxFound),
    findings,
    checkedAt: at,
  }
}

function judgeStanding(domain: Domain, findings: Finding[], at: number): Standing {
  const { isVerified, failedChecks, failingSince } = domain
  const as = (status: Standing['status']) => ({ isVerified, failedChecks, failingSince, status })
  if (domain.isTrusted) return verified
  switch (findings.find(({ purpose }) => purpose === 'dkim')?.state) {
    case 'found':
      return verified
    case 'missing':
      if (isVerified) return countFailure(domain, at)
      return as(failingSince === null ? 'Pending' : 'Failed')
    case 'different':
      return isVerified ? countFailure(domain, at) : as('Failed')
    default:
      return as('TemporaryFailure')
  }
}

const verified: Standing = {
  isVerified: true,
  status: 'Success',
  failedChecks: 0,
  failingSince: null,
}

/** `failingSince` stays when the domain is lost: its claim lapses some time after that. */
function countFailure(domain: Domain, at: number): Standing {
  const failedChecks = domain.failedChecks + 1
  const failingSince = domain.failingSince ?? at
  const isLost = failedChecks >= MAX_FAILED_CHECKS && at - failingSince >= MIN_FAILING_MS
  return { isVerified: !isLost, status: isLost ? 'Failed' : 'Success', failedChecks, failingSince }
}
