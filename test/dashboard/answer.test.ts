import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findAnswer,
  type MailFacts,
  type ReceiverStanding,
  shortenNames,
} from '../../src/dashboard/logic/answer.ts'

const free = { limit: null, usage: 12, isWarning: false, isBlocked: false }

const WELL: MailFacts = {
  isSandbox: false,
  isDisabled: false,
  disabledReason: null,
  checks: null,
  receivers: [],
  security: { findings: [] },
  caps: { campaigns: free, transactional: free, workflows: free, inbound: free },
  domains: [{ domain: 'larkspur.example', verified: true }],
  sent: 5,
}

const near = { limit: 100, usage: 85, isWarning: true, isBlocked: false }
const reached = { limit: 100, usage: 100, isWarning: true, isBlocked: true }

function receiver(
  name: string,
  state: ReceiverStanding['state'],
  affected: number,
): ReceiverStanding {
  const waiting = state === 'open' ? 40 : affected
  return {
    ...{ receiver: name, state, waiting, affected: state === 'open' ? 0 : affected },
    ...{ domains: [], messagesPerMinute: null, until: null, reply: null },
  }
}

function check(id: string, status: string) {
  return { id, status, evidence: `evidence of ${id}`, fix: null }
}

function kindsOf(facts: Partial<MailFacts>): string[] {
  return findAnswer({ ...WELL, ...facts }).troubles.map(({ kind }) => kind)
}

test('mail flows where nothing is wrong', () => {
  assert.deepEqual(findAnswer(WELL), { troubles: [], calm: 'flowing' })
  assert.equal(findAnswer({ ...WELL, isSandbox: true }).calm, 'sandbox')
  assert.equal(findAnswer({ ...WELL, sent: 0 }).calm, 'quiet')
})

test('a part that has not answered is never taken for well', () => {
  for (const part of ['checks', 'receivers', 'security', 'caps', 'domains', 'sent'] as const) {
    assert.equal(findAnswer({ ...WELL, [part]: undefined }).calm, 'unknown', part)
    assert.deepEqual(kindsOf({ [part]: undefined }), [], part)
  }
})

test('the worst trouble stands first', () => {
  const kinds = kindsOf({
    isDisabled: true,
    disabledReason: 'MANUAL',
    checks: {
      checks: [check('smtp_egress', 'failed'), check('spf', 'warning'), check('dkim', 'ok')],
    },
    receivers: [receiver('Gmail', 'slowed', 3), receiver('Outlook', 'closed', 9)],
    security: {
      findings: [
        { kind: 'bounce', level: 'critical' },
        { kind: 'complaint', level: 'warning' },
      ],
    },
    caps: { campaigns: reached, transactional: near, workflows: free, inbound: free },
    domains: [{ domain: 'larkspur.example', verified: false }],
  })
  assert.deepEqual(kinds, [
    'disabled',
    'checks_failed',
    'no_domain',
    'cap_reached',
    'bounces_critical',
    'receivers_closed',
    'receivers_slowed',
    'complaints_warning',
    'cap_near',
    'checks_warning',
  ])
})

test('a trouble has the values that its sentence names', () => {
  const { troubles } = findAnswer({
    ...WELL,
    caps: { ...WELL.caps, campaigns: reached, inbound: reached } as MailFacts['caps'],
    checks: { checks: [check('disk_space', 'failed'), check('clock', 'skipped')] },
  })
  assert.deepEqual(troubles, [
    { kind: 'checks_failed', tone: 'bad', checks: [check('disk_space', 'failed')] },
    { kind: 'cap_reached', tone: 'bad', category: 'campaigns', limit: 100 },
    { kind: 'cap_near', tone: 'warn', category: 'inbound', usage: 100, limit: 100 },
  ])
})

test('a receiver without waiting mail slows nobody, and the one with most mail stands first', () => {
  const receivers = [
    receiver('Gmail', 'slowed', 2),
    receiver('Yahoo', 'slowed', 7),
    receiver('GMX', 'slowed', 0),
    receiver('iCloud', 'open', 40),
    receiver('Other', 'held', 1),
  ]
  const { troubles } = findAnswer({ ...WELL, receivers })
  assert.deepEqual(troubles, [
    { kind: 'receivers_held', tone: 'warn', receivers: [receivers[4]] },
    { kind: 'receivers_slowed', tone: 'warn', receivers: [receivers[1], receivers[0]] },
  ])
})

test('a sandbox needs no verified domain, and one of several that is not verified is named', () => {
  assert.deepEqual(kindsOf({ domains: [], isSandbox: true }), [])
  assert.deepEqual(kindsOf({ domains: [] }), ['no_domain'])
  const domains = [
    { domain: 'larkspur.example', verified: true },
    { domain: 'news.example', verified: false },
  ]
  assert.deepEqual(findAnswer({ ...WELL, domains }).troubles, [
    { kind: 'domain_unverified', tone: 'warn', domain: 'news.example' },
  ])
})

test('a heading names up to three', () => {
  assert.deepEqual(shortenNames(['a', 'b', 'c']), { shown: ['a', 'b', 'c'], others: 0 })
  assert.deepEqual(shortenNames(['a', 'b', 'c', 'd']), { shown: ['a', 'b'], others: 2 })
})
