import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adviceFor } from '../../src/dashboard/logic/advice.ts'
import { EMAIL_STATES, isExpired, stateOf, toneOf } from '../../src/dashboard/logic/email-state.ts'
import { fillText, type Values } from '../../src/dashboard/logic/fill.ts'
import { KNOWN_REASONS, type Phrase, reasonPhrase } from '../../src/dashboard/logic/reason.ts'
import { rowReason } from '../../src/dashboard/logic/row-reason.ts'
import { de } from '../../src/dashboard/text/de.ts'
import { en } from '../../src/dashboard/text/en.ts'
import { EMAIL_REASONS } from '../../src/records/reason-codes.ts'

const at = '2026-12-01T10:12:00.000Z'

/** The text in English, with instants as they are. */
function say({ key, values }: Phrase, table: Record<string, unknown> = en): string {
  const shown = Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if ('at' in value) return [name, value.at]
      if ('said' in value) return [name, value.said]
      if ('plain' in value) return [name, value.plain]
      if ('count' in value) return [name, value.count]
      const { [name]: _, ...others } = values
      return [name, say({ key: value.text, values: others }, table)]
    }),
  )
  return fillText<string | number>(table[key] as string, shown as Values, 'en').join('')
}

const last = {
  class: 'throttle',
  host: 'mx.a.example',
  reply: { code: 451, enhancedCode: '4.7.650', text: 'slow down' },
  ...{ error: null, interrupted: false, maybeDelivered: false },
}

describe('the reason of an email', () => {
  it('has a text for every code of the server', () => {
    assert.deepEqual([...KNOWN_REASONS].sort(), Object.keys(EMAIL_REASONS).sort())
  })

  it('fills every place in both languages, also with values that are not known', () => {
    for (const code of KNOWN_REASONS) {
      for (const table of [en, de]) {
        const phrase = reasonPhrase(code, {})
        assert.ok(phrase !== undefined)
        assert.doesNotMatch(say(phrase, table), /\{|undefined|null/, code)
      }
    }
  })

  it('says why the last attempt failed and when the next one is', () => {
    const phrase = reasonPhrase('retry_scheduled', {
      ...{ domain: 'a.example', last, siteError: null, nextAttemptAt: at },
    })
    assert.equal(
      say(phrase as Phrase),
      `mx.a.example asks this server to slow down; again at ${at}`,
    )
  })

  it('gives the words of the receiver where their class has no text', () => {
    const phrase = reasonPhrase('retry_scheduled', {
      ...{ domain: 'a.example', last: { ...last, class: 'unknown' }, nextAttemptAt: at },
    })
    assert.equal(say(phrase as Phrase), `451 4.7.650 slow down; again at ${at}`)
  })

  it('tells a bounce in the words of the receiver, with the suppression that followed', () => {
    const reply = { code: 550, enhancedCode: '5.1.1', text: 'no such\nmailbox' }
    const phrase = reasonPhrase('bounced', { reply, error: null, suppressedSince: at })
    assert.equal(say(phrase as Phrase), '550 5.1.1 no such mailbox; suppressed since')
  })

  it('has no text for a code of a newer server, nor for a name of objects', () => {
    assert.equal(reasonPhrase('brand_new', {}), undefined)
    assert.equal(reasonPhrase('constructor', {}), undefined)
    assert.equal(reasonPhrase(null, null), undefined)
  })

  it('prefers what the person did to what the receiver said', () => {
    const row = {
      ...{ status: 'OPENED', state: 'delivered', error: null, opens: 2, clicks: 0 },
      ...{ openedAt: at, clickedAt: null, complainedAt: null, reasonCode: 'delivered' },
    }
    assert.equal(say(rowReason(row) as Phrase), `opened 2 times, first ${at}`)
  })
})

describe('the state of an email', () => {
  const state = (status: string, queue: string, reasonCode: string | null = null) =>
    stateOf({ status, state: queue, reasonCode })

  it('is one word from the status and the state in the queue', () => {
    assert.equal(state('PENDING', 'queued'), 'waiting')
    assert.equal(state('PENDING', 'deferred'), 'deferred')
    assert.equal(state('PENDING', 'held'), 'held')
    assert.equal(state('SENDING', 'sending'), 'sending')
    assert.equal(state('SENT', 'relayed'), 'relayed')
    assert.equal(state('OPENED', 'delivered'), 'opened')
    assert.equal(state('FAILED', 'failed', 'cancelled'), 'cancelled')
    assert.equal(state('FAILED', 'failed', 'given_up'), 'failed')
  })

  it('is told apart where the receiver did not take it in time', () => {
    const codes = ['given_up', 'given_up_untried', 'refused', 'error', null]
    assert.deepEqual(
      codes.map((code) => isExpired('failed', code)),
      [true, true, false, false, false],
    )
    assert.equal(isExpired('deferred', 'given_up'), false)
  })

  it('has a shape, a word and an answer in both languages', () => {
    for (const one of EMAIL_STATES) {
      assert.ok(toneOf(one))
      for (const table of [en, de] as Record<string, unknown>[]) {
        assert.ok(table[`email.${one}`] && table[`answer.${one}`], one)
      }
    }
  })
})

describe('what to do about an email', () => {
  const advice = (state: string, reasonCode: string | null, replyClass: string | null = null) =>
    adviceFor({ state: state as 'waiting', reasonCode, replyClass })

  it('says that nothing has to be done while the receiver asks to wait', () => {
    assert.equal(advice('deferred', 'retry_scheduled', 'throttle'), 'act.nothing')
    assert.equal(advice('waiting', 'due'), 'act.wait')
  })

  it('does not call an address fine that was refused', () => {
    assert.equal(advice('deferred', 'retry_scheduled', 'quota'), 'act.wait')
  })

  it('names who must act', () => {
    assert.equal(advice('held', 'domain_held'), 'act.operator')
    assert.equal(advice('paused', 'campaign_paused'), 'act.resume')
    assert.equal(advice('bounced', 'bounced', 'hard'), 'act.address')
    assert.equal(advice('bounced', 'bounced', 'block'), 'act.refused')
    assert.equal(advice('suppressed', 'suppressed'), 'act.lift')
  })

  it('is silent where all is well', () => {
    assert.equal(advice('delivered', 'delivered', 'accepted'), undefined)
  })
})
