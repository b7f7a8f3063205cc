import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { basePath, projectOf } from '../../src/dashboard/logic/base.ts'
import { fillText } from '../../src/dashboard/logic/fill.ts'
import {
  bytes,
  duration,
  fullTime,
  relativeTime,
  shortTime,
} from '../../src/dashboard/logic/format.ts'
import { isTyping, readKey } from '../../src/dashboard/logic/keys.ts'
import { pollDelay } from '../../src/dashboard/logic/poll.ts'

const ID = '0199a7c0-0000-7000-8000-000000000001'

describe('addresses of the dashboard', () => {
  it('begin with the path that a proxy serves the program at', () => {
    assert.equal(basePath('https://mail.example/app/assets/main-A.js'), '')
    assert.equal(basePath('https://example.org/mail/box/app/assets/main-A.js'), '/mail/box')
    assert.equal(basePath('file:///main.js'), '')
  })

  it('name the project, where there is one', () => {
    assert.equal(projectOf(`/app/${ID}`), ID)
    assert.equal(projectOf(`/app/${ID}/emails/1`), ID)
    for (const path of ['/app', '/app/me', '/app/server/queue', `/x/${ID}`, `/app/${ID}x`]) {
      assert.equal(projectOf(path), undefined, path)
    }
  })
})

describe('a text with places', () => {
  it('takes values, and numbers in the form of the language', () => {
    assert.equal(
      fillText('{count} of {all}', { count: 1234, all: 'x' }, 'de').join(''),
      '1.234 of x',
    )
  })

  it('shows a place without a value as it is', () => {
    assert.equal(fillText('{a} {b}', { a: '{b}' }, 'en').join(''), '{b} {b}')
  })

  it('takes the plural form of its count', () => {
    const forms = { one: '{count} row', other: '{count} rows' }
    assert.equal(fillText(forms, { count: 1 }, 'en').join(''), '1 row')
    assert.equal(fillText(forms, { count: 0 }, 'en').join(''), '0 rows')
    assert.equal(fillText({ other: 'rows' }, { count: 1 }, 'en').join(''), 'rows')
  })
})

describe('instants', () => {
  const now = new Date('2026-11-30T23:30:00Z')
  const place = { locale: 'en-GB', timeZone: 'Europe/Vienna' }

  it('are short: the time today, the day this year, and else the year too', () => {
    // In Vienna, 23:30 UTC is half an hour past midnight of the next day.
    assert.equal(shortTime('2026-11-30T23:05:00Z', now, place), '00:05')
    assert.equal(shortTime('2026-11-30T22:05:00Z', now, place), '30 Nov')
    assert.equal(shortTime('2025-11-30T22:05:00Z', now, place), '30 Nov 2025')
  })

  it('are full with seconds and zone', () => {
    assert.match(fullTime('2026-11-30T23:05:09Z', place), /1 December 2026.*00:05:09.*CET/)
  })

  it('are relative in the largest unit that fits', () => {
    const texts = ['23:30:31', '23:28:00'].map((time) =>
      relativeTime(`2026-11-30T${time}Z`, now, 'en'),
    )
    assert.deepEqual(texts, ['in 31 seconds', '2 minutes ago'])
    assert.equal(relativeTime('2026-12-03T22:00:00Z', now, 'en'), 'in 2 days')
  })
})

it('durations and sizes have the unit that fits', () => {
  assert.deepEqual(
    [241, 1_240, 119_000, 180_000].map((ms) => duration(ms, 'en')),
    ['241 ms', '1.2 sec', '119 sec', '3 min'],
  )
  assert.deepEqual(
    [900, 21_400, 3_100_000].map((size) => bytes(size, 'en')),
    ['0.9 kB', '21.4 kB', '3.1 MB'],
  )
})

describe('keys', () => {
  const press = (key: string, more: object = {}) =>
    readKey({ key, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, ...more })

  it('are letters, or letters with Ctrl or Command', () => {
    assert.equal(press('j'), 'j')
    assert.equal(press('?'), '?')
    assert.equal(press('K', { ctrlKey: true }), 'mod+k')
    assert.equal(press('k', { metaKey: true }), 'mod+k')
  })

  it('are none while a person composes a character or holds Alt', () => {
    assert.equal(press('e', { isComposing: true }), undefined)
    assert.equal(press('e', { altKey: true }), undefined)
    assert.equal(press('Dead'), undefined)
  })

  it('belong to the field with the focus', () => {
    assert.equal(isTyping({ closest: (selector: string) => selector.includes('input') }), true)
    assert.equal(isTyping({ closest: () => null }), false)
    assert.equal(isTyping(null), false)
    assert.equal(isTyping({}), false)
  })
})

it('a screen asks every 5 s for a minute after input, then every 15 s', () => {
  const delays = [0, 59_999, 60_000].map((since) => pollDelay('fast', since))
  assert.deepEqual(delays, [5_000, 5_000, 15_000])
  assert.deepEqual([pollDelay('domain', 0), pollDelay('domain', 60_000)], [10_000, 15_000])
  assert.deepEqual([pollDelay('live', 0), pollDelay('live', 60_000)], [30_000, 60_000])
})
