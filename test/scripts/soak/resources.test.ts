import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { judgeResources, type Resources } from '../../../scripts/soak/server/judge-resources.ts'
import {
  readMetric,
  readUsage,
  type Sample,
  type Usage,
} from '../../../scripts/soak/server/resources.ts'

const rest = (lasting: number, threads: number): Usage => ({
  ...{ residentMegabytes: 100, threads },
  descriptors: { lasting, connections: 0, byKind: { files: lasting } },
})

/** A hundred samples; `memoryAt` and `delayMs` say what each of them has. */
function resources(
  memoryAt: (index: number) => number,
  { delayMs = 5, calmMs = 300_000, last = rest(30, 12) } = {},
): Resources {
  const samples: Sample[] = Array.from({ length: 100 }, (_, index) => {
    return { at: index, residentMegabytes: memoryAt(index), loopDelayP99Ms: delayMs }
  })
  return { samples, first: rest(30, 12), last, calmMs, lateStops: 0 }
}

function wrongOf(given: Resources): string[] {
  return judgeResources(given).flatMap(({ findings }) => findings.map(({ id }) => id))
}

describe('the resources of a soak', () => {
  it('may grow while the process warms up, and by 15% after it', () => {
    assert.deepEqual(wrongOf(resources((index) => (index < 25 ? 80 : 200))), [])
    assert.deepEqual(wrongOf(resources((index) => (index < 50 ? 100 : 114))), [])
    assert.deepEqual(wrongOf(resources((index) => (index < 50 ? 100 : 117))), ['memory'])
  })

  it('has no stops that take too long, or in a short run counts them', () => {
    const late = { ...resources(() => 100), lateStops: 1 }
    assert.deepEqual(wrongOf(late), ['SIGTERM'])
    assert.deepEqual(wrongOf({ ...late, calmMs: 30_000 }), [])
  })

  it('are judged by gross limits in a short run', () => {
    const short = { calmMs: 30_000 }
    const growing = (index: number) => (index < 50 ? 100 : 140)
    assert.deepEqual(wrongOf(resources(growing, { ...short, delayMs: 1_900 })), [])
    assert.deepEqual(wrongOf(resources(growing, { ...short, delayMs: 2_001 })), ['event loop'])
    assert.deepEqual(wrongOf(resources(growing, { delayMs: 51 })), ['memory', 'event loop'])
  })

  it('fail without samples', () => {
    const none = { ...resources(() => 100), samples: [] }
    assert.deepEqual(wrongOf(none), ['memory', 'event loop'])
  })

  it('name descriptors that belong to no thread, and threads beyond those on demand', () => {
    const lastly = (last: Usage) => wrongOf(resources(() => 100, { last }))
    assert.deepEqual(lastly(rest(31, 12)), ['descriptors at rest'])
    // Two more threads that scan: five of each, and a file of the database.
    assert.deepEqual(lastly(rest(30 + 12, 14)), [])
    assert.deepEqual(lastly(rest(30 + 13, 14)), ['descriptors at rest'])
    assert.deepEqual(lastly(rest(35, 13)), [])
    assert.deepEqual(lastly(rest(50, 16)), ['threads at rest'])
    assert.deepEqual(lastly(rest(29, 12)), [])
  })

  it('are read from a process and from its metrics', () => {
    const { residentMegabytes, threads, descriptors } = readUsage(process.pid)
    assert.ok(residentMegabytes > 10 && threads > 1 && descriptors.lasting > 2)
    const text = '# HELP a b\nother_seconds 3\nlag_seconds 0.012\nlag_seconds{a="b"} 4\n'
    assert.equal(readMetric(text, 'missing', 'lag_seconds'), 0.012)
    assert.equal(readMetric(text, 'missing'), undefined)
  })
})
