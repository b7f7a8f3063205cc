import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { formatDate, formatDigits, formatNumber } from '../../src/dashboard/logic/format.ts'
import { stampText } from '../../src/dashboard/logic/stamp.ts'

const folder = path.join(import.meta.dirname, '..', '..', 'src', 'dashboard')

describe('the formats of the dashboard', () => {
  it('are made in one place, once for a language and a zone', () => {
    // To make one at each use costs a thousand times its use. Plural rules and lists of names have other keepers.
    const maker = /\.toLocale(?:Date|Time)?String\(|Intl\.(?:Date|Number)\w+/
    const makers = globSync('**/*.{ts,tsx}', { cwd: folder })
      .map((name) => [name, readFileSync(path.join(folder, name), 'utf8')] as const)
      .filter(([, text]) => maker.test(text))
    assert.deepEqual(
      makers.map(([name]) => name),
      [path.join('logic', 'format.ts')],
    )
  })

  it('differ by language, zone and form', () => {
    const at = new Date('2026-11-30T23:30:00Z')
    const show = (form: 'day' | 'clock', locale: string, timeZone: string) => {
      return formatDate(form, at, { locale, timeZone })
    }
    assert.equal(show('day', 'en-GB', 'UTC'), '30 Nov')
    assert.equal(show('day', 'en-GB', 'Europe/Vienna'), '1 Dec')
    assert.equal(show('day', 'de', 'Europe/Vienna'), '1. Dez.')
    assert.equal(show('clock', 'en-GB', 'Europe/Vienna'), '00:30')
  })

  it('of numbers differ by language and options', () => {
    assert.equal(formatNumber(1234.567, 'en'), '1,234.57')
    assert.equal(formatNumber(1234.567, 'de'), '1.234,57')
    assert.equal(formatNumber(12_345, 'en', { notation: 'compact' }), '12K')
    assert.equal(formatDigits(0.5, 'en', 2), '0.50')
    assert.equal(formatDigits(0.5, 'en', 0), '1')
  })
})

describe('the text of the postmark', () => {
  it('has the day, the month as a Roman numeral, and the time in the zone', () => {
    const at = new Date('2026-11-30T23:05:00Z')
    assert.deepEqual(stampText(at, 'UTC'), { day: '30 XI', time: '23:05' })
    assert.deepEqual(stampText(at, 'Europe/Vienna'), { day: '1 XII', time: '00:05' })
    assert.deepEqual(stampText(at, undefined), {
      day: `${at.getDate()} ${at.getMonth() === 10 ? 'XI' : 'XII'}`,
      time: [at.getHours(), at.getMinutes()].map((one) => String(one).padStart(2, '0')).join(':'),
    })
  })
})
