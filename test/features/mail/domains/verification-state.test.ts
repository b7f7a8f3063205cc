import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '../../../../src/base/clock.ts'
import { nextVerificationState } from '../../../../src/features/mail/domains/check.ts'
import type { DnsFinding } from '../../../../src/features/mail/domains/query-records.ts'
import type { RecordPurpose } from '../../../../src/features/mail/domains/records.ts'
import type { Domain } from '../../../../src/store/schema/domains.ts'
import type { RecordFinding } from '../../../../src/store/schema/json-values.ts'

const START = Date.UTC(2026, 10, 21, 12)

type RecordState = RecordFinding['state']
type Sights = Partial<Record<RecordPurpose, RecordState>>

const pending = {
  id: 'd',
  domain: 'shop.test',
  isVerified: false,
  isTrusted: false,
  status: 'Pending',
  failedChecks: 0,
  failingSince: null,
  isEd25519Found: false,
  isReturnPathFound: false,
  isMxFound: false,
  findings: null,
  checkedAt: null,
} as unknown as Domain
const verified: Domain = { ...pending, isVerified: true, status: 'Success' }

const findings = (unanswered: Sights): DnsFinding[] =>
  Object.entries(unanswered).map(([purpose, state]) => ({
    purpose: purpose as RecordPurpose,
    state,
    found: [],
  }))

/** The domain after checks that found the RSA key so, `[minute, state]` each. */
function after(domain: Domain, checks: [number, RecordState][]): Domain {
  let row = domain
  for (const [minute, dkim] of checks) {
    row = { ...row, ...nextVerificationState(row, findings({ dkim }), START + minute * MINUTE_MS) }
  }
  return row
}

test('an unverified domain is Pending, Failed with a foreign key, and Success with its own key', () => {
  const standing = (state: RecordState) => {
    const { isVerified, status } = after(pending, [[0, state]])
    return [isVerified, status]
  }
  assert.deepEqual(standing('missing'), [false, 'Pending'])
  assert.deepEqual(standing('different'), [false, 'Failed'])
  assert.deepEqual(standing('unknown'), [false, 'TemporaryFailure'])
  assert.deepEqual(standing('found'), [true, 'Success'])
})

test('a domain is Pending again once a foreign key has disappeared', () => {
  const domain = after(pending, [
    [0, 'different'],
    [5, 'missing'],
  ])
  assert.equal(domain.status, 'Pending')
})

const losing: [string, [number, RecordState][], boolean][] = [
  [
    'two failures',
    [
      [0, 'missing'],
      [90, 'missing'],
    ],
    false,
  ],
  [
    'three within the hour',
    [
      [0, 'missing'],
      [5, 'different'],
      [59, 'missing'],
    ],
    false,
  ],
  [
    'three over an hour',
    [
      [0, 'missing'],
      [5, 'different'],
      [60, 'missing'],
    ],
    true,
  ],
  [
    'many, the last after an hour',
    [
      [0, 'missing'],
      [5, 'missing'],
      [10, 'missing'],
      [61, 'missing'],
    ],
    true,
  ],
  [
    'a success in between',
    [
      [0, 'missing'],
      [5, 'missing'],
      [30, 'found'],
      [61, 'missing'],
    ],
    false,
  ],
  [
    'two and a time-out',
    [
      [0, 'missing'],
      [5, 'missing'],
      [61, 'unknown'],
    ],
    false,
  ],
  [
    'three around a time-out',
    [
      [0, 'missing'],
      [5, 'unknown'],
      [30, 'missing'],
      [61, 'missing'],
    ],
    true,
  ],
  [
    'time-outs for a day',
    [
      [0, 'unknown'],
      [600, 'unknown'],
      [900, 'unknown'],
      [1440, 'unknown'],
    ],
    false,
  ],
]

for (const [name, checks, isLost] of losing) {
  test(`a verified domain ${isLost ? 'is lost' : 'stays'} after ${name}`, () => {
    assert.equal(after(verified, checks).isVerified, !isLost)
  })
}

test('a domain that loses its verification stays Failed until its key is back', () => {
  const lost = after(verified, [
    [0, 'missing'],
    [30, 'missing'],
    [60, 'missing'],
  ])
  assert.equal(lost.status, 'Failed')
  const still = after(lost, [[65, 'missing']])
  assert.equal(still.status, 'Failed')
  assert.equal(still.failingSince, START)
  const back = after(still, [[70, 'found']])
  assert.deepEqual([back.isVerified, back.status, back.failingSince], [true, 'Success', null])
  assert.equal(after(back, [[75, 'missing']]).isVerified, true)
})

test('a verified domain keeps its state while its name server does not respond', () => {
  const full = {
    ...verified,
    isEd25519Found: true,
    isReturnPathFound: true,
    isMxFound: true,
    failedChecks: 1,
  }
  const unanswered = findings({
    dkim: 'unknown',
    'dkim-ed25519': 'unknown',
    'return-path': 'unknown',
    'return-path-spf': 'unknown',
    replies: 'unknown',
  })
  const judged = nextVerificationState({ ...full, failingSince: START }, unanswered, START + 1)
  assert.equal(judged.status, 'TemporaryFailure')
  assert.equal(judged.isVerified, true)
  assert.equal(judged.isEd25519Found, true)
  assert.equal(judged.isReturnPathFound, true)
  assert.equal(judged.isMxFound, true)
  assert.equal(judged.failedChecks, 1)
  assert.equal(judged.failingSince, START)
})

test('a trusted domain never loses its verification', () => {
  const trusted = { ...verified, isTrusted: true }
  for (const state of ['missing', 'different', 'unknown', 'found'] as const) {
    const domain = after(trusted, [
      [0, state],
      [60, state],
      [120, state],
    ])
    assert.deepEqual([domain.isVerified, domain.status], [true, 'Success'], state)
  }
})

test('the second key counts from the check that finds it until it is certainly gone', () => {
  const judge = (domain: Domain, state: RecordState) =>
    nextVerificationState(domain, findings({ dkim: 'found', 'dkim-ed25519': state }), START)
      .isEd25519Found
  assert.equal(judge(verified, 'found'), true)
  assert.equal(judge({ ...verified, isEd25519Found: true }, 'unknown'), true)
  assert.equal(judge({ ...verified, isEd25519Found: true }, 'missing'), false)
  assert.equal(judge({ ...verified, isEd25519Found: true }, 'different'), false)
})

test('the return path needs both of its records', () => {
  const judge = (mx: RecordState, spf: RecordState) =>
    nextVerificationState(
      verified,
      findings({ dkim: 'found', 'return-path': mx, 'return-path-spf': spf }),
      START,
    ).isReturnPathFound
  assert.equal(judge('found', 'found'), true)
  assert.equal(judge('found', 'missing'), false)
  assert.equal(judge('different', 'found'), false)
  assert.equal(judge('found', 'unknown'), false)
})

test('mailboxes are open from the check that finds this server as MX until it certainly is not', () => {
  const judge = (domain: Domain, replies: RecordState) =>
    nextVerificationState(domain, findings({ dkim: 'found', replies }), START).isMxFound
  assert.equal(judge(verified, 'found'), true)
  assert.equal(judge(verified, 'unknown'), false)
  const ours = { ...verified, isMxFound: true }
  assert.equal(judge(ours, 'unknown'), true)
  assert.equal(judge(ours, 'missing'), false)
  assert.equal(judge(ours, 'different'), false)
})
