import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CUSTOMER_LANGUAGES,
  type CustomerFacts,
  customerLanguage,
  customerText,
} from '../../src/dashboard/logic/customer-text.ts'
import { EMAIL_STATES } from '../../src/dashboard/logic/email-state.ts'

const facts: CustomerFacts = {
  state: 'deferred',
  reasonCode: 'retry_scheduled',
  subject: 'Winter letter',
  acceptedAt: '2026-11-30T07:58:20.000Z',
  deliveredAt: null,
  giveUpAt: '2026-12-01T07:58:20.000Z',
  receiver: 'hotmail.example',
  timeZone: 'Europe/Berlin',
}

describe('the text for the customer', () => {
  it('exists for every state in every language, without a code or an open place', () => {
    for (const language of CUSTOMER_LANGUAGES) {
      for (const state of EMAIL_STATES) {
        const text = customerText({ ...facts, state }, language)
        assert.match(text, /Winter letter/, state)
        assert.doesNotMatch(text, /[{}]|\b[45]\d\d\b|SMTP|suppress/, state)
      }
    }
  })

  const cases: [Partial<CustomerFacts>, RegExp][] = [
    [{ state: 'waiting', reasonCode: 'due' }, /will leave us shortly/],
    [{ state: 'sending', reasonCode: 'sending' }, /just being handed to hotmail.example/],
    [{ state: 'deferred' }, /keep trying until 1 December at 08:58/],
    [{ state: 'held', reasonCode: 'domain_held' }, /stopped it for the moment/],
    [{ state: 'paused', reasonCode: 'campaign_paused' }, /stopped it for the moment/],
    [{ state: 'paused', reasonCode: 'campaign_pace' }, /will leave us shortly/],
    [
      { state: 'delivered', deliveredAt: '2026-11-30T08:00:00.000Z' },
      /took our email “Winter letter” on 30 November at 09:00/,
    ],
    [{ state: 'opened' }, /has been opened since/],
    [{ state: 'clicked' }, /a link in it has been followed/],
    [{ state: 'bounced' }, /refused our email/],
    [{ state: 'complained' }, /reported to us as spam/],
    [{ state: 'suppressed', reasonCode: 'suppressed' }, /did not send/],
    [{ state: 'cancelled', reasonCode: 'cancelled' }, /cancelled by us/],
    [{ state: 'failed', reasonCode: 'given_up' }, /have stopped trying/],
    [{ state: 'failed', reasonCode: 'refused' }, /a reason on our side/],
  ]
  for (const [part, expected] of cases) {
    it(`tells ${part.state} for ${part.reasonCode ?? 'any reason'} in plain words`, () => {
      assert.match(customerText({ ...facts, ...part }, 'en'), expected)
    })
  }

  it('is German for a German contact, and English for a language without a text', () => {
    assert.equal(customerLanguage('de-AT'), 'de')
    assert.equal(customerLanguage('fi'), 'en')
    assert.equal(customerLanguage(undefined), 'en')
    assert.match(customerText(facts, 'de'), /bis 1\. Dezember um 08:58/)
  })
})
