import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  findBursts,
  isInstant,
  isMachineAgent,
  isMachineRequest,
  type TimedHit,
} from '../../../../src/features/mail/tracking/machine-detection.ts'
import { withinCpuMs } from '../../../cpu-time.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

const people = [
  chrome,
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.3.0',
  'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
]

/** They fetch pixels for people; clicks do not pass through them. */
const readers = [
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
  'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  'Outlook-Android/2.0',
  'eM Client/9.2',
  'Evolution/3.52',
]

const machines = [
  '',
  ' ',
  'Mozilla/5.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Gmail-content-sampling',
  'Mozilla/5.0 (compatible; Proofpoint)',
  'Barracuda Sentinel (EE)',
  'Mozilla/5.0 (Windows NT 10.0) CiscoSecureEmail',
  'Microsoft Office Existence Discovery',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0 Safari/537.36',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'curl/8.5.0',
  'python-requests/2.32.0',
]

const by = (headers: IncomingHttpHeaders, method = 'GET') =>
  isMachineRequest('click', { method, headers: { 'user-agent': chrome, ...headers } })

describe('a request', () => {
  it('of a browser or mail program is a person', () => {
    for (const agent of people) {
      assert.equal(isMachineAgent('open', agent), false, agent)
      assert.equal(isMachineAgent('click', agent), false, agent)
    }
    assert.equal(by({}), false)
  })

  it('through an image proxy is an open by a person, and never a click by one', () => {
    for (const agent of readers) {
      assert.equal(isMachineAgent('open', agent), false, agent)
      assert.equal(isMachineAgent('click', agent), true, agent)
    }
  })

  it('of a scanner, a preview, a library or a privacy proxy is a machine', () => {
    for (const agent of machines) {
      assert.equal(isMachineAgent('open', agent), true, agent)
      assert.equal(isMachineAgent('click', agent), true, agent)
    }
    assert.equal(isMachineRequest('open', { method: 'GET', headers: {} }), true)
  })

  it('that uses HEAD or prefetches is a machine', () => {
    assert.equal(by({}, 'HEAD'), true)
    assert.equal(by({ purpose: 'prefetch' }), true)
    assert.equal(by({ 'sec-purpose': 'prefetch;prerender' }), true)
    assert.equal(by({ 'x-purpose': 'preview' }), true)
    assert.equal(by({ 'x-moz': 'prefetch' }), true)
    assert.equal(by({ purpose: 'none' }), false)
  })

  it('with a User-Agent of 16 KB is classified quickly', () => {
    withinCpuMs(2_000, () => isMachineAgent('click', 'Mozilla/5.0 '.repeat(1_400)))
  })
})

describe('a time', () => {
  it('within two seconds of the arrival is too soon for a person', () => {
    assert.equal(isInstant(1_999, 0), true)
    assert.equal(isInstant(2_000, 0), false)
    assert.equal(isInstant(0, 1_999), true)
  })

  it('long before the arrival indicates a clock set back, not a machine', () => {
    assert.equal(isInstant(0, 3_600_000), false)
  })
})

const clicks = (...hits: [at: number, link: string | undefined][]): TimedHit[] =>
  hits.map(([at, link]) => ({ at, link, isMachine: false }))

describe('a group of hits', () => {
  it('of three links in a second is a machine, its pixel too', () => {
    const hits = clicks([0, 'a'], [10, undefined], [20, 'b'], [30, 'c'], [40, 'a'])
    assert.deepEqual(findBursts(hits), [true, true, true, true, true])
  })

  it('of two links, or of one link often, is a person', () => {
    assert.deepEqual(findBursts(clicks([0, 'a'], [300, 'b'], [600, 'a'])), [false, false, false])
  })

  it('of three links in more than a second is a person', () => {
    assert.deepEqual(findBursts(clicks([0, 'a'], [500, 'b'], [1_000, 'c'])), [false, false, false])
  })

  it('of a machine excludes hits further away in time', () => {
    const hits = clicks([0, 'a'], [5_000, 'a'], [5_001, 'b'], [5_002, 'c'], [9_000, 'a'])
    assert.deepEqual(findBursts(hits), [false, true, true, true, false])
  })

  it('of twenty hits in a second is a machine', () => {
    const hits = clicks(
      ...Array.from({ length: 20 }, (_, at) => [at, undefined] as [number, undefined]),
    )
    assert.deepEqual(new Set(findBursts(hits)), new Set([true]))
    assert.deepEqual(new Set(findBursts(hits.slice(1))), new Set([false]))
  })

  it('is classified as if every second of it were checked', () => {
    const hit = fc.record({
      at: fc.integer({ min: 0, max: 4_000 }),
      link: fc.constantFrom('a', 'b', 'c', undefined),
      isMachine: fc.constant(false),
    })
    const groups = fc.array(hit, { maxLength: 60 })
    const slowly = (hits: readonly TimedHit[]) =>
      hits.map((one, own) =>
        hits.some((last, index) => {
          if (index < own || last.at - one.at >= 1_000) return false
          const second = hits.filter(({ at }, each) => each <= index && at > last.at - 1_000)
          const links = new Set(second.flatMap(({ link }) => link ?? []))
          return links.size >= 3 || second.length >= 20
        }),
      )
    fc.assert(
      fc.property(groups, (given) => {
        const hits = given.toSorted((a, b) => a.at - b.at)
        assert.deepEqual(findBursts(hits), slowly(hits))
      }),
      { numRuns: 200 },
    )
  })

  it('of a flood is classified quickly', () => {
    const flood = clicks(
      ...Array.from({ length: 100_000 }, (_, at) => [at >> 7, 'a'] as [number, string]),
    )
    withinCpuMs(2_000, () => findBursts(flood))
  })
})
