/** Codes of single providers, and enhanced codes without text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyWithBasis } from '../../../src/formats/replies/classify-reply.ts'
import type { Stage } from '../../../src/formats/replies/reply.ts'

const late = (code: number, enhancedCode: string | null, text: string, command?: Stage) => {
  const reply = { code, enhancedCode, text }
  const { verdict } = classifyWithBasis({ stage: 'late', reply, ...(command ? { command } : {}) })
  return verdict
}

test('the codes of providers outweigh their text', () => {
  for (const [text, reason] of [
    ['Service refused, please try later. OFR006_103 192.0.2.1', 'blocked'],
    ['Service refused, please try later. LPN001_108', 'undetermined'],
    ['Service refused, please try later. LPN007_505', 'systemerror'],
    ['Client host rejected: LPN000_630', 'policyviolation'],
    ['sender rejected. AUP#In-1310', 'toomanyconn'],
    ['see our page. AUP#Out-1400', 'ratelimited'],
    ['see our page. AUP#I-1000', 'blocked'],
    ['rejected. AUP#CXSNDR', 'authfailure'],
    ['too many messages judged to be spam. IB110', 'blocked'],
    ['This IP has sent too many. IB607', 'ratelimited'],
    ['see response_codes#pol POL-P5', 'virusdetected'],
    ['see response_codes#rcp RCP-T4', 'suspended'],
    ['(SC-002) Unfortunately, messages were refused', 'policyviolation'],
    ['There is an unusual rate of unsolicited mail from your address', 'blocked'],
    ['All messages from 192.0.2.1 will be permanently deferred', 'rejected'],
  ] as const) {
    const { isHard, reason: got } = late(550, null, text)
    assert.deepEqual([got, isHard], [reason, false], text)
  }
})

test("a provider's code within a word or of another form is ignored", () => {
  for (const text of ['xib110x', 'sofr_103', 'pol-p55', 'aup#i-99999']) {
    assert.equal(late(550, null, text).reason, 'undetermined', text)
  }
})

test('a late report without text is classified by its enhanced code', () => {
  for (const [enhancedCode, reason, isHard] of [
    ['5.1.0', 'userunknown', true],
    ['5.1.9', 'systemerror', false],
    ['5.2.1', 'filtered', false],
    ['5.2.4', 'filtered', false],
    ['5.4.0', 'networkerror', false],
    ['5.4.4', 'hostunknown', true],
    ['4.4.4', 'networkerror', false],
    ['4.4.1', 'expired', false],
    ['4.4.3', 'systemerror', false],
    ['5.4.300', 'expired', false],
    ['5.5.0', 'undetermined', false],
    ['5.5.3', 'toomanyconn', false],
    ['5.7.1', 'securityerror', false],
    ['4.7.1', 'blocked', false],
    ['5.7.16', 'toobig', false],
    ['5.7.18', 'hasmoved', true],
    ['5.7.124', 'rejected', false],
    ['5.7.506', 'blocked', false],
  ] as const) {
    const code = enhancedCode.startsWith('5') ? 550 : 450
    const verdict = late(code, enhancedCode, 'xyzzy')
    assert.deepEqual([verdict.reason, verdict.isHard], [reason, isHard], enhancedCode)
  }
  for (const command of ['mail', 'data', 'message'] as const) {
    assert.equal(late(550, '5.1.0', 'xyzzy', command).isHard, false, command)
  }
})

test('a disabled mailbox without text counts as a strike', () => {
  assert.equal(late(550, '5.2.1', 'xyzzy').isStrike, true)
})

test('a domain without mail is hard unless the failure is temporary', () => {
  for (const text of ['No MX found for domain', 'the domain has a null MX record']) {
    assert.deepEqual(
      [late(550, null, text).reason, late(550, null, text).isHard],
      ['rejected', true],
    )
  }
  const temporary = late(450, '4.4.4', 'the domain has a null MX record')
  assert.deepEqual([temporary.reason, temporary.isHard], ['rejected', false])
  assert.equal(late(450, '4.0.0', 'DNS Error: responded with code NXDOMAIN').isHard, false)
})
